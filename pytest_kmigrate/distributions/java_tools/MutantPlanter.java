import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;

/** A Java agent that puts one changed class in the place of Kafka's own: "-javaagent:JAR=CLASS,FILE". */
public final class MutantPlanter {
    /** Written to standard output, before its name, where the class is loaded: a node that ends at once leaves it, too. */
    static final String WITNESS = "kmigrate.planted: ";

    public static void premain(String given, Instrumentation instrumentation) throws Exception {
        int comma = given.indexOf(',');
        String name = given.substring(0, comma).replace('.', '/');
        byte[] changed = Files.readAllBytes(Path.of(given.substring(comma + 1)));
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader in, String loaded, Class<?> old, ProtectionDomain by, byte[] content) {
                if (!name.equals(loaded)) {
                    return null;
                }
                System.out.println(WITNESS + name.replace('/', '.'));
                return changed;
            }
        });
    }
}
