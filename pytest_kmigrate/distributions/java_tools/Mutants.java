import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.ZipFile;
import org.pitest.classinfo.ClassByteArraySource;
import org.pitest.classinfo.ClassName;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.mutationtest.engine.gregor.GregorMutater;
import org.pitest.mutationtest.engine.gregor.MethodInfo;
import org.pitest.mutationtest.engine.gregor.config.Mutator;

/**
 * The mutants that PIT makes of classes: "list JARS" lists them, "write JARS FOLDER" writes the class files of some.
 *
 * <p>JARS: all jars of the distribution, as PIT looks for common superclasses. Classes to list are read from standard
 * input, one a line; so are mutants to write: class, place in the list of the class from 0, file, between TABs. Of each
 * written one a line says whether a JVM takes it: file, and "taken", or the error.
 */
public final class Mutants {
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    public static void main(String[] given) throws Exception {
        String[] jars = given[1].split(java.io.File.pathSeparator);
        var mutater = new GregorMutater(new Jars(jars), Mutants::isWritten, Mutator.newDefaults());
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (given[0].equals("list")) {
                list(mutater, line);
            } else {
                write(mutater, line.split("\t"), jars, Path.of(given[2]));
            }
        }
        OUT.flush();
    }

    /** Whether somebody wrote its code: of what compilers make of their own accord, these are functions without names. */
    private static boolean isWritten(MethodInfo method) {
        String name = method.getName();
        return !method.isSynthetic() || name.contains("lambda$") || name.contains("$anonfun$");
    }

    private static void list(GregorMutater mutater, String name) {
        int number = 0;
        for (MutationDetails each : mutater.findMutations(ClassName.fromString(name))) {
            OUT.println(String.join("\t", name, "" + number++, each.getMethod(),
                each.getId().getLocation().getMethodDesc(), "" + each.getLineNumber(), place(each),
                each.getMutator().substring(each.getMutator().lastIndexOf('.') + 1),
                each.getDescription().replaceAll("\\s+", " ")));
        }
    }

    /** Of the changed instruction in its method, from 0; PIT counts from 1. */
    private static String place(MutationDetails mutant) {
        return "" + (mutant.getFirstIndex() - 1);
    }

    private static void write(GregorMutater mutater, String[] asked, String[] jars, Path folder) throws Exception {
        var all = mutater.findMutations(ClassName.fromString(asked[0]));
        byte[] content = mutater.getMutation(all.get(Integer.parseInt(asked[1])).getId()).getBytes();
        Files.write(folder.resolve(asked[2]), content);
        OUT.println(asked[2] + "\t" + refusal(asked[0], content, jars));
    }

    /** Whether a JVM verifies it. It has to be initialised for that, as nothing else makes sure that it is verified. */
    private static String refusal(String name, byte[] content, String[] jars) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String jar : jars) {
            urls.add(Path.of(jar).toUri().toURL());
        }
        try (Planted planted = new Planted(name, content, urls.toArray(new URL[0]))) {
            Class.forName(name, true, planted);
            return "taken";
        } catch (ExceptionInInitializerError notOfTheVerifier) {
            return "taken";
        } catch (LinkageError refused) {
            return String.valueOf(refused).replaceAll("\\s+", " ");
        }
    }

    /** Loads everything from the jars but the mutant. */
    private static final class Planted extends URLClassLoader {
        private final String name;
        private final byte[] content;

        Planted(String name, byte[] content, URL[] jars) {
            super(jars, ClassLoader.getPlatformClassLoader());
            this.name = name;
            this.content = content;
        }

        @Override
        protected Class<?> findClass(String wanted) throws ClassNotFoundException {
            return wanted.equals(name) ? defineClass(name, content, 0, content.length) : super.findClass(wanted);
        }
    }

    /** Class files of the jars; the first jar that has one counts, as on a class path. */
    private static final class Jars implements ClassByteArraySource {
        private final Map<String, ZipFile> places = new HashMap<>();

        Jars(String[] jars) throws Exception {
            for (String path : jars) {
                ZipFile jar = new ZipFile(path);
                jar.stream().filter(entry -> entry.getName().endsWith(".class"))
                    .forEach(entry -> places.putIfAbsent(entry.getName(), jar));
            }
        }

        @Override
        public Optional<byte[]> getBytes(String name) {
            String entry = name.replace('.', '/') + ".class";
            try {
                ZipFile jar = places.get(entry);
                if (jar != null) {
                    return Optional.of(jar.getInputStream(jar.getEntry(entry)).readAllBytes());
                }
                var ofJava = ClassLoader.getSystemResourceAsStream(entry);
                return ofJava == null ? Optional.empty() : Optional.of(ofJava.readAllBytes());
            } catch (java.io.IOException unreadable) {
                throw new java.io.UncheckedIOException(unreadable);
            }
        }
    }
}
