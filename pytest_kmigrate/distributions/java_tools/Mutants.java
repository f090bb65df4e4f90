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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.zip.ZipFile;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.pitest.classinfo.ClassByteArraySource;
import org.pitest.classinfo.ClassName;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.mutationtest.engine.gregor.GregorMutater;
import org.pitest.mutationtest.engine.gregor.MethodInfo;
import org.pitest.mutationtest.engine.gregor.config.Mutator;

/**
 * The mutants that PIT makes of classes: "list JARS" lists them, "write JARS FOLDER" writes the class files of some.
 *
 * <p>Left out are those that return the constant that the method returns there anyway, and those of private methods
 * that nothing calls, as a compiler has copied them into their callers.
 *
 * <p>JARS: all jars of the distribution, as PIT looks for common superclasses. Classes to list are read from standard
 * input, one a line; so are mutants to write: class, place in the list of the class from 0, file, between TABs. Of each
 * written one a line says whether a JVM takes it: file, and "taken", or the error.
 */
public final class Mutants {
    private static final Set<String> IMPLICIT = Set.of("readObject", "writeObject", "readResolve", "writeReplace");
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    public static void main(String[] given) throws Exception {
        String[] jars = given[1].split(java.io.File.pathSeparator);
        var source = new Jars(jars);
        var mutater = new GregorMutater(source, Mutants::isWritten, Mutator.newDefaults());
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (given[0].equals("list")) {
                list(mutater, line, read(source.getBytes(line).orElseThrow()));
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

    private static void list(GregorMutater mutater, String name, ClassNode content) {
        Map<String, MethodNode> methods = new HashMap<>();
        content.methods.forEach(method -> methods.put(method.name + method.desc, method));
        Set<String> called = calledIn(content);
        int number = -1;
        for (MutationDetails each : mutater.findMutations(ClassName.fromString(name))) {
            number++;
            String descriptor = each.getId().getLocation().getMethodDesc();
            MethodNode method = methods.get(each.getMethod() + descriptor);
            boolean isLeft = (method.access & Opcodes.ACC_PRIVATE) != 0 && !called.contains(method.name + method.desc);
            if (!isLeft && !returnsTheSame(each, method)) {
                OUT.println(String.join("\t", name, "" + number, each.getMethod(), descriptor,
                    "" + each.getLineNumber(), "" + place(each),
                    each.getMutator().substring(each.getMutator().lastIndexOf('.') + 1),
                    each.getDescription().replaceAll("\\s+", " ")));
            }
        }
    }

    /** Of the changed instruction in its method, from 0; PIT counts from 1. */
    private static int place(MutationDetails mutant) {
        return mutant.getFirstIndex() - 1;
    }

    private static ClassNode read(byte[] content) {
        var read = new ClassNode();
        new ClassReader(content).accept(read, ClassReader.EXPAND_FRAMES);
        return read;
    }

    /** Methods of the class that its code calls or hands on; all of them if other classes may call private ones. */
    private static Set<String> calledIn(ClassNode content) {
        Set<String> called = new HashSet<>();
        boolean isNested = content.nestHostClass != null || content.nestMembers != null;
        for (MethodNode method : content.methods) {
            if (isNested || method.name.startsWith("<") || IMPLICIT.contains(method.name)) {
                called.add(method.name + method.desc);
            }
            for (AbstractInsnNode each : method.instructions) {
                if (each instanceof MethodInsnNode && ((MethodInsnNode) each).owner.equals(content.name)) {
                    called.add(((MethodInsnNode) each).name + ((MethodInsnNode) each).desc);
                } else if (each instanceof InvokeDynamicInsnNode) {
                    for (Object given : ((InvokeDynamicInsnNode) each).bsmArgs) {
                        if (given instanceof Handle) {
                            called.add(((Handle) given).getName() + ((Handle) given).getDesc());
                        }
                    }
                }
            }
        }
        return called;
    }

    /** Whether it replaces a constant by the same one. One that is reached by a jump, too, may replace others. */
    private static boolean returnsTheSame(MutationDetails mutant, MethodNode method) {
        AbstractInsnNode changed = method.instructions.get(place(mutant));
        if (changed.getOpcode() < Opcodes.IRETURN || changed.getOpcode() > Opcodes.ARETURN) {
            return false;
        }
        AbstractInsnNode before = changed.getPrevious();
        while (before != null && before.getOpcode() < 0) {
            if (before instanceof LabelNode && isTarget((LabelNode) before, method)) {
                return false;
            }
            before = before.getPrevious();
        }
        return before != null && isReplacement(before, mutant.getMutator(), mutant.getDescription());
    }

    /** Whether anything but the instruction before leads to a label. */
    private static boolean isTarget(LabelNode label, MethodNode method) {
        for (AbstractInsnNode each : method.instructions) {
            boolean leads = each instanceof JumpInsnNode && ((JumpInsnNode) each).label == label
                || each instanceof TableSwitchInsnNode && isOf((TableSwitchInsnNode) each, label)
                || each instanceof LookupSwitchInsnNode && isOf((LookupSwitchInsnNode) each, label);
            if (leads) {
                return true;
            }
        }
        return method.tryCatchBlocks.stream().anyMatch(block -> block.handler == label);
    }

    private static boolean isOf(TableSwitchInsnNode choice, LabelNode label) {
        return choice.dflt == label || choice.labels.contains(label);
    }

    private static boolean isOf(LookupSwitchInsnNode choice, LabelNode label) {
        return choice.dflt == label || choice.labels.contains(label);
    }

    private static boolean isReplacement(AbstractInsnNode constant, String mutator, String change) {
        int code = constant.getOpcode();
        if (mutator.contains("BooleanTrueReturn")) {
            return code == Opcodes.ICONST_1;
        }
        if (mutator.contains("BooleanFalseReturn") || mutator.contains("PrimitiveReturn")) {
            return List.of(Opcodes.ICONST_0, Opcodes.LCONST_0, Opcodes.FCONST_0, Opcodes.DCONST_0).contains(code);
        }
        if (mutator.contains("NullReturn")) {
            return code == Opcodes.ACONST_NULL;
        }
        if (constant instanceof MethodInsnNode) {
            var call = (MethodInsnNode) constant;
            String name = call.owner.substring(call.owner.lastIndexOf('/') + 1) + "." + call.name;
            return call.owner.startsWith("java/util/") && change.contains("with " + name + " ");
        }
        return constant instanceof LdcInsnNode && ((LdcInsnNode) constant).cst.equals("");
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
