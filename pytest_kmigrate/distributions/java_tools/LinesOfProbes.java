import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.ZipFile;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.analysis.ICounter;
import org.jacoco.core.analysis.IMethodCoverage;
import org.jacoco.core.data.ExecutionData;
import org.jacoco.core.data.ExecutionDataStore;
import org.jacoco.core.internal.data.CRC64;
import org.jacoco.core.internal.flow.ClassProbesAdapter;
import org.jacoco.core.internal.flow.ClassProbesVisitor;
import org.jacoco.core.internal.flow.MethodProbesVisitor;
import org.jacoco.core.internal.instr.InstrSupport;
import org.objectweb.asm.ClassReader;

/**
 * Which probes of JaCoCo show that a line was executed: any of them does.
 *
 * <p>Reads "jar TAB class" from standard input, one class a line; writes a line for each method and line of source:
 * class, sum of the class file, number of its probes, source file, method, line, probes with commas, between TABs.
 */
public final class LinesOfProbes {
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    public static void main(String[] none) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] asked = line.split("\t");
            try (ZipFile jar = new ZipFile(asked[0])) {
                var entry = jar.getEntry(asked[1].replace('.', '/') + ".class");
                write(asked[1], jar.getInputStream(entry).readAllBytes());
            }
        }
        OUT.flush();
    }

    private static void write(String name, byte[] content) throws Exception {
        var probes = new Probes();
        InstrSupport.classReaderFor(content).accept(new Numbering(probes), ClassReader.EXPAND_FRAMES);
        if (probes.count == 0) {
            return;
        }
        long id = CRC64.classId(content);
        int most = probes.ofMethods.values().stream().mapToInt(List::size).max().orElse(0);
        Map<String, TreeMap<Integer, TreeSet<Integer>>> lines = new LinkedHashMap<>();
        String[] source = {""};
        // Methods do not share probes: one analysis is asked about one probe of each method.
        for (int round = 0; round < most; round++) {
            boolean[] executed = new boolean[probes.count];
            for (List<Integer> each : probes.ofMethods.values()) {
                if (round < each.size()) {
                    executed[each.get(round)] = true;
                }
            }
            var store = new ExecutionDataStore();
            store.put(new ExecutionData(id, name.replace('.', '/'), executed));
            int asked = round;
            new Analyzer(store, found -> note(found, probes, asked, lines, source)).analyzeClass(content, name);
        }
        lines.forEach((method, ofMethod) -> ofMethod.forEach((line, found) -> OUT.println(String.join("\t", name,
            String.format("%016x", id), "" + probes.count, source[0], method, "" + line,
            String.join(",", found.stream().map(String::valueOf).toList())))));
    }

    private static void note(IClassCoverage found, Probes probes, int round,
            Map<String, TreeMap<Integer, TreeSet<Integer>>> lines, String[] source) {
        source[0] = found.getSourceFileName() == null ? "" : found.getSourceFileName();
        for (IMethodCoverage method : found.getMethods()) {
            String key = method.getName() + method.getDesc();
            List<Integer> own = probes.ofMethods.getOrDefault(key, List.of());
            var ofMethod = lines.computeIfAbsent(key, none -> new TreeMap<>());
            for (int line = method.getFirstLine(); line > 0 && line <= method.getLastLine(); line++) {
                ICounter counter = method.getLine(line).getInstructionCounter();
                if (counter.getTotalCount() > 0) {
                    var executed = ofMethod.computeIfAbsent(line, none -> new TreeSet<>());
                    if (counter.getCoveredCount() > 0 && round < own.size()) {
                        executed.add(own.get(round));
                    }
                }
            }
        }
    }

    /** The probes of a class file, by method. */
    private static final class Probes extends ClassProbesVisitor {
        final Map<String, List<Integer>> ofMethods = new LinkedHashMap<>();
        int count;
        private List<Integer> current = new ArrayList<>();

        void add(int probe) {
            current.add(probe);
        }

        @Override
        public MethodProbesVisitor visitMethod(int access, String name, String desc, String signature, String[] thrown) {
            current = new ArrayList<>();
            ofMethods.put(name + desc, current);
            return null;
        }

        @Override
        public void visitTotalProbeCount(int total) {
            count = total;
        }
    }

    /** Numbers probes as the agent does. */
    private static final class Numbering extends ClassProbesAdapter {
        private final Probes probes;

        Numbering(Probes probes) {
            super(probes, false);
            this.probes = probes;
        }

        @Override
        public int nextId() {
            int probe = super.nextId();
            probes.add(probe);
            return probe;
        }
    }
}
