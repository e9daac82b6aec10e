// Prints what javac's own attribution says about the calls of a project, as rows that `truth.py` reads.
//
//   java JavaTruth.java ROOT [JAR…] < FILES
//
// ROOT is the project's directory, FILES the paths below it, one a line, JAR what they need, if it is there: a
// call whose types are missing is given as unresolved.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.Collectors;
import javax.lang.model.element.*;
import javax.lang.model.type.*;
import javax.lang.model.util.*;
import javax.tools.*;

public class JavaTruth {
    static final TreeSet<String> rows = new TreeSet<>();
    static Path root;
    static Trees trees;
    static Elements elements;
    static Types types;
    static final Map<Element, String> places = new HashMap<>();
    static final Map<String, List<ExecutableElement>> byName = new HashMap<>();
    static final Map<ExecutableElement, List<ExecutableElement>> overriding = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        root = Path.of(arguments[0]).toRealPath();
        List<Path> files = new BufferedReader(new InputStreamReader(System.in)).lines()
            .filter(line -> !line.isEmpty()).map(root::resolve).collect(Collectors.toList());
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        List<String> options = new ArrayList<>(List.of("-proc:none", "-Xmaxerrs", "1"));
        if (arguments.length > 1)
            options.addAll(List.of("-cp", String.join(File.pathSeparator, Arrays.asList(arguments).subList(1, arguments.length))));
        JavacTask task = (JavacTask) compiler.getTask(
            new StringWriter(), manager, problem -> { }, options, null, manager.getJavaFileObjectsFromPaths(files));
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        task.analyze();
        trees = Trees.instance(task);
        elements = task.getElements();
        types = task.getTypes();
        units.forEach(unit -> new Definitions(unit).scan(unit, null));
        units.forEach(unit -> new Calls(unit).scan(unit, null));
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        rows.forEach(out::println);
        out.flush();
    }

    static void say(Object... cells) {
        rows.add(Arrays.stream(cells).map(String::valueOf).collect(Collectors.joining("\t")));
    }

    /** What both passes know of a file. */
    static class Pass extends TreePathScanner<Void, Void> {
        final CompilationUnitTree unit;
        final String path;
        final LineMap lines;

        Pass(CompilationUnitTree unit) {
            this.unit = unit;
            this.path = root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
            this.lines = unit.getLineMap();
        }

        long line(long position) { return position < 0 ? 0 : lines.getLineNumber(position); }
        long start(Tree tree) { return trees.getSourcePositions().getStartPosition(unit, tree); }
        long end(Tree tree) { return trees.getSourcePositions().getEndPosition(unit, tree); }

        /** The line of a definition's name: annotations and modifiers may fill lines before it. */
        long nameLine(Tree tree, String name) {
            try {
                CharSequence text = unit.getSourceFile().getCharContent(true);
                int from = (int) start(tree), until = (int) end(tree);
                if (tree instanceof MethodTree method) {
                    ModifiersTree modifiers = method.getModifiers();
                    if (end(modifiers) > from) from = (int) end(modifiers);
                } else if (tree instanceof ClassTree type) {
                    if (end(type.getModifiers()) > from) from = (int) end(type.getModifiers());
                }
                var found = java.util.regex.Pattern.compile("\\b" + java.util.regex.Pattern.quote(name) + "\\b")
                    .matcher(text).region(from, Math.max(from, until));
                return found.find() ? line(found.start()) : line(from);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }

    static class Definitions extends Pass {
        Definitions(CompilationUnitTree unit) {
            super(unit);
            say("P", path);
        }

        @Override public Void visitClass(ClassTree tree, Void nothing) {
            Element own = trees.getElement(getCurrentPath());
            String name = tree.getSimpleName().toString();
            if (own != null && !name.isEmpty()) {
                long line = nameLine(tree, name);
                places.put(own, path + "\t" + line + "\t" + name);
                say("F", path, line, name, line(end(tree)), "class");
            }
            return super.visitClass(tree, nothing);
        }

        @Override public Void visitMethod(MethodTree tree, Void nothing) {
            Element own = trees.getElement(getCurrentPath());
            if (own instanceof ExecutableElement method && end(tree) > start(tree) && !isImplicit(tree)) {
                String name = method.getKind() == ElementKind.CONSTRUCTOR
                    ? method.getEnclosingElement().getSimpleName().toString() : method.getSimpleName().toString();
                byName.computeIfAbsent(method.getSimpleName().toString(), key -> new ArrayList<>()).add(method);
                if (tree.getBody() != null) {
                    long line = nameLine(tree, name);
                    places.put(own, path + "\t" + line + "\t" + name);
                    say("F", path, line, name, line(end(tree)), "function");
                }
            }
            return super.visitMethod(tree, nothing);
        }

        boolean isImplicit(MethodTree tree) { // a constructor that nobody has written
            return elements.getOrigin(trees.getElement(getCurrentPath())) != Elements.Origin.EXPLICIT;
        }
    }

    static List<ExecutableElement> below(ExecutableElement method) {
        return overriding.computeIfAbsent(method, key -> byName.getOrDefault(method.getSimpleName().toString(), List.of())
            .stream().filter(each -> each != method && each.getEnclosingElement() instanceof TypeElement owner
                && elements.overrides(each, method, owner)).collect(Collectors.toList()));
    }

    static class Calls extends Pass {
        Calls(CompilationUnitTree unit) { super(unit); }

        String caller() {
            for (TreePath each = getCurrentPath().getParentPath(); each != null; each = each.getParentPath())
                if (each.getLeaf() instanceof MethodTree) {
                    String place = places.get(trees.getElement(each));
                    if (place != null) return place;
                }
            return path + "\t0\t";
        }

        void called(Element element, Tree where, String name, boolean made) {
            String caller = caller();
            long line = line(start(where));
            if (!(element instanceof ExecutableElement method) || element.asType().getKind() == TypeKind.ERROR) {
                if (!name.isEmpty()) say("U", caller, name);
                return;
            }
            String place = places.get(method);
            if (place != null) say("E", "call", caller, line, place);
            else if (method.getKind() == ElementKind.CONSTRUCTOR && made && places.containsKey(method.getEnclosingElement()))
                say("E", "call", caller, line, places.get(method.getEnclosingElement()));
            for (ExecutableElement each : below(method))
                if (places.containsKey(each))
                    say("E", place == null ? "dispatch" : "override", caller, line, places.get(each));
        }

        @Override public Void visitMethodInvocation(MethodInvocationTree tree, Void nothing) {
            ExpressionTree select = tree.getMethodSelect();
            String name = select instanceof MemberSelectTree member ? member.getIdentifier().toString() : select.toString();
            if (start(tree) >= 0 && !(name.equals("super") && end(select) <= start(select)))
                called(trees.getElement(new TreePath(getCurrentPath(), select)), tree, name, false);
            return super.visitMethodInvocation(tree, nothing);
        }

        @Override public Void visitNewClass(NewClassTree tree, Void nothing) {
            Element element = trees.getElement(getCurrentPath());
            if (tree.getClassBody() != null) { // of an anonymous class: the constructor above it
                Element type = trees.getElement(new TreePath(getCurrentPath(), tree.getIdentifier()));
                if (type != null && places.containsKey(type)) {
                    for (Element each : type.getEnclosedElements())
                        if (each.getKind() == ElementKind.CONSTRUCTOR)
                            say("E", "reference", caller(), line(start(tree)), places.getOrDefault(each, places.get(type)));
                    say("E", "reference", caller(), line(start(tree)), places.get(type));
                }
            } else {
                String name = tree.getIdentifier().toString();
                called(element, tree, name.substring(name.lastIndexOf('.') + 1), true);
            }
            return super.visitNewClass(tree, nothing);
        }

        @Override public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
            Element element = trees.getElement(getCurrentPath());
            if (element instanceof ExecutableElement method) {
                String place = places.getOrDefault(method, places.get(method.getEnclosingElement()));
                if (place != null) say("E", "reference", caller(), line(start(tree)), place);
                for (ExecutableElement each : below(method))
                    if (places.containsKey(each)) say("E", "reference", caller(), line(start(tree)), places.get(each));
            } else say("U", caller(), tree.getName());
            return super.visitMemberReference(tree, nothing);
        }
    }
}
