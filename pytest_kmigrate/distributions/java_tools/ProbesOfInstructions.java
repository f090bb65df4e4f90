import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.zip.ZipFile;
import org.jacoco.core.internal.data.CRC64;
import org.jacoco.core.internal.flow.ClassProbesAdapter;
import org.jacoco.core.internal.flow.ClassProbesVisitor;
import org.jacoco.core.internal.flow.IFrame;
import org.jacoco.core.internal.flow.LabelInfo;
import org.jacoco.core.internal.flow.MethodProbesVisitor;
import org.jacoco.core.internal.instr.InstrSupport;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Which probes of JaCoCo show that one instruction was executed: any of them does.
 *
 * <p>Reads "jar TAB class TAB method and descriptor TAB place of the instruction in the method" from standard input, one
 * instruction a line; writes a line for each: the sum of the class file, the instruction's line, probes with commas.
 * A line of source may hold code that runs only after an exception, so that the probes of a line show too much.
 */
public final class ProbesOfInstructions {
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    public static void main(String[] none) throws Exception {
        Map<String, Flows> known = new HashMap<>();
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] asked = line.split("\t");
            Flows flows = known.get(asked[1]);
            if (flows == null) {
                flows = read(asked[0], asked[1]);
                known.put(asked[1], flows);
            }
            Flow flow = flows.ofMethods.get(asked[2]);
            int place = Integer.parseInt(asked[3]);
            OUT.println(String.join("\t", flows.id, "" + flow.lineOf(place),
                String.join(",", flow.probesOf(place).stream().map(String::valueOf).toList())));
        }
        OUT.flush();
    }

    private static Flows read(String jar, String name) throws Exception {
        try (ZipFile opened = new ZipFile(jar)) {
            byte[] content = opened.getInputStream(opened.getEntry(name.replace('.', '/') + ".class")).readAllBytes();
            var flows = new Flows(String.format("%016x", CRC64.classId(content)));
            // The adapter numbers probes as the agent does.
            InstrSupport.classReaderFor(content).accept(new ClassProbesAdapter(flows, false), ClassReader.EXPAND_FRAMES);
            return flows;
        }
    }

    /** The methods of a class file. */
    private static final class Flows extends ClassProbesVisitor {
        final Map<String, Flow> ofMethods = new HashMap<>();
        final String id;

        Flows(String id) {
            this.id = id;
        }

        @Override
        public MethodProbesVisitor visitMethod(int access, String name, String desc, String signature, String[] thrown) {
            var flow = new Flow();
            ofMethods.put(name + desc, flow);
            return flow;
        }

        @Override
        public void visitTotalProbeCount(int total) {
        }
    }

    /** Where control goes from each node of a method, and which probes it passes at once. */
    private static final class Flow extends MethodProbesVisitor {
        private final Map<Integer, TreeSet<Integer>> probes = new HashMap<>();
        private final Map<Integer, List<Label>> jumps = new HashMap<>();
        private final Map<Label, Integer> places = new HashMap<>();
        private final Map<Integer, Integer> lines = new HashMap<>();
        /** Nodes that control leaves to the next node without a probe. */
        private final TreeSet<Integer> through = new TreeSet<>();
        private int current = -1;

        /** Probes that are passed after a node, without another one between. */
        TreeSet<Integer> probesOf(int place) {
            var found = new TreeSet<Integer>();
            var seen = new TreeSet<Integer>();
            var next = new ArrayDeque<Integer>(List.of(place));
            while (!next.isEmpty()) {
                int each = next.pop();
                if (each <= current && seen.add(each)) {
                    found.addAll(probes.getOrDefault(each, new TreeSet<>()));
                    jumps.getOrDefault(each, List.of()).forEach(label -> next.add(places.get(label)));
                    if (through.contains(each)) {
                        next.add(each + 1);
                    }
                }
            }
            return found;
        }

        int lineOf(int place) {
            return lines.getOrDefault(place, 0);
        }

        @Override
        public void accept(MethodNode method, MethodVisitor adapter) {
            int line = 0;
            for (var node : method.instructions) {
                current++;
                through.add(current);
                node.accept(adapter);
                if (node instanceof LineNumberNode numbered) {
                    line = numbered.line;
                }
                lines.put(current, line);
            }
        }

        @Override
        public void visitLabel(Label label) {
            places.put(label, current);
        }

        /** It stands before the node that is visited now. */
        @Override
        public void visitProbe(int probe) {
            passed(current - 1, probe);
            through.remove(current - 1);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN
                    || opcode == Opcodes.ATHROW) {
                through.remove(current);
            }
        }

        @Override
        public void visitInsnWithProbe(int opcode, int probe) {
            passed(current, probe);
            through.remove(current);
        }

        @Override
        public void visitJumpInsn(int opcode, Label to) {
            jump(to);
            ends(opcode);
        }

        @Override
        public void visitJumpInsnWithProbe(int opcode, Label to, int probe, IFrame frame) {
            passed(current, probe);
            ends(opcode);
        }

        @Override
        public void visitTableSwitchInsn(int least, int most, Label otherwise, Label... each) {
            chosen(otherwise, each);
        }

        @Override
        public void visitTableSwitchInsnWithProbes(int least, int most, Label otherwise, Label[] each, IFrame frame) {
            chosen(otherwise, each);
        }

        @Override
        public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] each) {
            chosen(otherwise, each);
        }

        @Override
        public void visitLookupSwitchInsnWithProbes(Label otherwise, int[] keys, Label[] each, IFrame frame) {
            chosen(otherwise, each);
        }

        private void chosen(Label otherwise, Label[] each) {
            through.remove(current);
            to(otherwise);
            for (Label label : each) {
                to(label);
            }
        }

        private void to(Label label) {
            int probe = LabelInfo.getProbeId(label);
            if (probe == LabelInfo.NO_PROBE) {
                jump(label);
            } else {
                passed(current, probe);
            }
        }

        private void ends(int opcode) {
            if (opcode == Opcodes.GOTO) {
                through.remove(current);
            }
        }

        private void jump(Label to) {
            jumps.computeIfAbsent(current, none -> new ArrayList<>()).add(to);
        }

        private void passed(int place, int probe) {
            probes.computeIfAbsent(place, none -> new TreeSet<>()).add(probe);
        }
    }
}
