"""What is said of definitions that no call was resolved to: no "no caller" where something may call them."""

from __future__ import annotations

import json

import pytest

from gitrag.actions import graph, uncalled
from gitrag.actions.graph import call_graph, calls_of
from gitrag.actions.impact import callers_from_outside
from gitrag.actions.reaching import head_of
from gitrag.callgraph.answering import Direction, GraphQuestion
from gitrag.indexing import records
from gitrag.mcp_server import replies
from gitrag.report.call_tree import SCREEN, CallTree
from gitrag.report.impact import impact_lines
from gitrag.report.told import json_text, plain_data
from tests.support.indexes import asked_often, of_texts, open_app
from tests.support.repository import create_repository, isolated_environment

FILES = {
    "shop/views.py": (
        "@app.route('/x')\ndef shown():\n    pass\n\n\n"
        "def loaded():\n    pass\n\n\n"
        "def linked():\n    pass\n\n\n"
        "def printed():\n    pass\n\n\n"
        "def rested():\n    pass\n\n\n"
        "def it():\n    pass\n"
    ),
    "shop/use.py": "def main(store):\n    store.loaded(1)\n    Linker(callbacks=[linked])\n",
    "shop/other.py": (
        "class Own:\n    def rested(self):\n        pass\n\n\n"
        "def run(own: Own):\n    own.rested()\n    own.rested()\n"
    ),
    "shop/page.html": "{{ item|printed }}\n",
    "CHANGELOG.md": "- `rested()` is gone.\n",
}
EXPECTED = {
    "shown": (False, [], ["@app.route"]),
    "loaded": (False, ["shop/use.py:2"], []),
    "linked": (False, ["shop/use.py:3"], []),
    "printed": (False, ["shop/page.html:1"], []),
    "rested": (True, [], []),
    "it": (False, [], []),
}
"""Whether it is without a caller, what may call it, what registers it; ``it`` is too short to look for."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    environment = isolated_environment(tmp_path_factory.mktemp("home"))
    return asked_often(create_repository(tmp_path_factory.mktemp("project") / "p", environment, FILES))


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    return of_texts(tmp_path_factory.mktemp("short"), SHORT)


def test_of_the_comment_before_a_definition_annotations_are_read():
    """What other tags say there is of no call."""
    lines = ["/**", " * @todo (more)", " * @ORM\\PrePersist", " * @return A", " */", "function f()"]
    assert head_of(lines, 6) == [lines[2], lines[5]]


@pytest.mark.parametrize("name", EXPECTED)
def test_no_caller_is_said_only_where_nothing_may_call(workspace, name):
    question = GraphQuestion(f"shop/views.py:{name}", direction=Direction.CALLERS)
    found = call_graph(workspace, question)
    (known,) = json.loads(json_text(found))["without_callers"]
    is_without, unresolved, registered = EXPECTED[name]
    assert (known["is_without_caller"], known["unresolved"], known["registered"]) == (
        is_without,
        unresolved,
        registered,
    )
    assert known["looked_at"] == "4 files"
    (said,) = found.negatives
    assert ("no caller" in said) == is_without
    assert said in "\n".join(f"{name}: {line}" for line in CallTree(found.graph, found.none).lines(None))
    assert replies.calls(found, 9, None, is_drawn=False).without_callers[0].known.unresolved == tuple(
        unresolved
    )


def test_a_file_has_no_caller_only_where_none_of_its_definitions_may(workspace):
    found = call_graph(workspace, GraphQuestion("shop/views.py", direction=Direction.CALLERS))
    (known,) = [each.known for each in found.none]
    assert known.unresolved == ("shop/use.py:2", "shop/use.py:3", "shop/page.html:1")


def test_a_check_and_an_impact_say_the_same(workspace):
    impact = callers_from_outside(workspace, "shop/views.py", ["shop/views.py"])
    data = {each["name"]: each for each in plain_data(impact)["without_callers"]}
    assert {
        name: (each["is_without_caller"], list(each["unresolved"]), list(each["registered"]))
        for name, each in data.items()
    } == EXPECTED
    lines = list(impact_lines(impact))
    assert "`loaded`: unresolved in 1 place: shop/use.py:2; no call resolved in 4 files." in lines
    assert "No caller of 1 definition in 4 files: `rested`." in lines


@pytest.mark.parametrize("key", ["without_callers", "unresolved"])
def test_an_agent_is_told_some_of_many_places_and_their_number(make_repository, key):
    files = {
        "a.py": "def handled():\n    pass\n",
        "b.py": "def run(store):\n" + "    store.handled(1)\n" * 30,
        "c.py": "import a\n\n\ndef main():\n    a.handled()\n" if key == "unresolved" else "",
    }
    workspace = open_app(make_repository(files))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("handled", direction=Direction.CALLERS))
    (told,) = plain_data(replies.calls(found, 9, None, is_drawn=False))[key]
    assert (len(told["unresolved"]), told["unresolved_places"]) == (10, 30)
    (whole,) = json.loads(json_text(found))[key]
    assert len(whole["unresolved"]) == 30


def test_a_check_of_many_definitions_stays_short(make_repository):
    """What holds for several is said once, and fewer of each one's callers are named."""
    used, unsure = [f"used{n}" for n in range(4)], [f"unsure{n}" for n in range(3)]
    files = {"own.py": "".join(f"def {name}():\n    pass\n\n\n" for name in used + unsure)}
    calls = "".join(f"    {name}()\n" for name in used)
    for n in range(6):
        files[f"by{n}.py"] = f"from own import {', '.join(used)}\n\n\ndef by{n}():\n{calls}"
    files["any.py"] = f"def any(it):\n    {'; '.join(f'it.{name}()' for name in unsure)}\n"
    workspace = open_app(make_repository(files))
    workspace.update()
    lines = list(impact_lines(callers_from_outside(workspace, "own.py", ["own.py"])))
    assert sum(line.endswith(", 2 more") for line in lines) == 4
    assert sum("unsure0`, `unsure1`, `unsure2`: unresolved in 1 place" in line for line in lines) == 1


def test_what_holds_for_many_is_said_once(make_repository):
    workspace = open_app(make_repository({f"a{n}.py": "def alone():\n    pass\n" for n in range(8)}))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("alone", direction=Direction.CALLERS))
    assert found.negatives == ("alone: no caller in 8 files",)
    lines = list(
        CallTree(found.graph, found.none, question=GraphQuestion(direction=Direction.CALLERS)).lines("alone")
    )
    assert lines.count("no caller in 8 files") == 1
    assert lines.count("no caller, as above") == 7


TESTED = {
    "lib/gateway.rb": "class Gateway\n  def pay(a)\n    1\n  end\n\n  def dash(a)\n    2\n  end\nend\n",
    "lib/payment.rb": "class Payment\n  def link\n    chosen.send_to(pay: self).pay\n  end\nend\n",
    "spec/gateway_spec.rb": (
        "def check_pay\n  Gateway.new.pay(1)\nend\n\ndef check_dash\n  Gateway.new.dash(1)\n  x.dash\nend\n"
    ),
}


@pytest.mark.parametrize(
    ("target", "unresolved"),
    [("pay", ["lib/payment.rb:3"]), ("dash", None), ("lib/gateway.rb", ["lib/payment.rb:3"])],
)
def test_calls_by_tests_do_not_hide_what_other_code_may_call(make_repository, target, unresolved):
    workspace = open_app(make_repository(TESTED))
    workspace.update()
    found = call_graph(workspace, GraphQuestion(target, direction=Direction.CALLERS))
    tests = graph.tests_of(workspace, found.graph)
    question = GraphQuestion(direction=Direction.CALLERS)
    shown = list(CallTree(found.graph, found.none, tests, question).lines(target))
    assert any("; --tests shows" in line for line in shown)
    every = list(CallTree(found.graph, found.none, tests, question, with_tests=True).lines(target))
    document = json.loads(json_text(found))
    if unresolved is None:
        assert "without_callers" not in document
        assert [each["unresolved"] for each in document["unresolved"]] == [["spec/gateway_spec.rb:7"]]
        assert "unresolved in 1 place: spec/gateway_spec.rb:7" in shown
        return
    (known,) = document["without_callers"]
    assert (known["unresolved"], known["is_without_caller"]) == (unresolved, False)
    said = "unresolved in 1 place: lib/payment.rb:3; no call resolved outside of tests in 3 files"
    assert said in shown
    assert said in every


def test_the_base_of_the_class_around_a_class_does_not_call_it(make_repository):
    source = "class Job(Thread):\n    class Trend:\n        size = 3\n\n    def begin(self):\n        pass\n"
    workspace = open_app(make_repository({"job.py": source}))
    workspace.update()
    for target, base in (("Job.Trend", ""), ("Job.begin", "Thread")):
        found = call_graph(workspace, GraphQuestion(target, direction=Direction.CALLERS))
        assert [each.known.base_outside for each in found.none] == [base]


def test_a_call_that_may_mean_one_of_many_overrides_is_counted(make_repository):
    source = "abstract class Base {\n  protected open fun hook() {}\n  fun run() { hook() }\n}\n"
    source += "".join(f"class K{each} : Base() {{ override fun hook() {{ }} }}\n" for each in range(16))
    workspace = open_app(make_repository({"c.kt": source}))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("K1.hook", direction=Direction.CALLERS))
    assert "Left out as too doubtful (confidence below 0.5): 1 call." in found.graph.followed.notes


def test_what_may_call_several_of_a_name_is_said_once(make_repository):
    source = "package a\ntype {0} struct{{}}\nfunc (x {0}) Handle(n Next) {{\n\tn.Get().Handle(nil)\n}}\n"
    files = {f"{name.lower()}.go": source.format(name) for name in ("One", "Two", "Three", "Four", "Five")}
    workspace = open_app(make_repository(files))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("Handle", direction=Direction.CALLERS))
    (said,) = found.negatives
    assert "unresolved in 5 places" in said


SHORT = {
    "a.js": "function init() {}\n",
    "index.html": '<body onload="init()"></body>\n',
    "a.py": ("class Box:\n    def __repr__(self):\n        return ''\n"),
    "A.java": (
        "class Case { int over(int x) { return x; } }\n"
        "class Own { int over(int x) { return x; }\n"
        "  static int go(Own own) { return own.over(Lib.find().over(2)); } }\n"
    ),
    "script.py": "print(1)\n",
    "routes.py": "@app.route('/x')\ndef shown():\n    pass\n",
    "job.py": "class Mine(Thread):\n    pass\n\n\nclass Job(Mine):\n    def begin(self):\n        pass\n",
    "Ctl.swift": "class Ctl: Screen {}\nextension Ctl { func appear() {} }\n",
    "d.ts": "export class Tick {\n  @Clocked()\n  ticking() {}\n}\n",
    "c.rs": "impl Drop for Box {\n    fn drop(&mut self) {}\n}\n",
    "o.js": (
        "const replies = {\n  PING: (it) => it,\n};\n"
        "export default define([{\n  setup() {},\n}]);\n"
        "class Setting extends Model {\n  static get table() { return 's' }\n}\n"
    ),
    "bus.js": "class Bus {\n  emit(n) { this[`on${n}`](1) }\n  onOpen() {}\n}\n",
    "a.php": (
        "<?php\nclass Mails {\n  function handle($d) { $this->{'setup' . $d}(); }\n"
        "  private function setupSmtp() {}\n}\n"
    ),
    "b.php": "<?php\nclass Log extends Facade {\n  protected static function accessor() {}\n}\n",
    "wrapper.rb": "module Api\n  class Base < ActiveResource::Base\n  end\nend\n",
    "pages.rb": (
        "class Pages < ActionController::Base\n  def shown\n  end\nend\n"
        "class First < Step\n  def self.down\n  end\nend\n"
    ),
    "fields.py": (
        "class Mixin:\n    pass\n\n\nclass CharField(models.CharField):\n    pass\n\n\n"
        "class Username(Mixin, models.CharField):\n    def deconstruct(self):\n        pass\n"
    ),
    "L.swift": "struct Fit: Layout {\n  func place() {}\n  deinit { }\n}\n",
    "T.swift": "struct Tab {\n  enum Layout { case wide }\n}\n",
    "List.cs": "class Own : Provider {\n  public void Fetch(int x) => Go(static y => y);\n}\n",
    "sort.go": "package a\n\ntype byAge []int\n\nfunc (b byAge) Swap(i, j int) {}\n",
    "Page.php": "<?php\nclass Page {\n  public function __construct() {}\n}\n",
    "routes.php": "<?php\n$router->get('/page', 'Page@index');\n",
    "go.mod": "module example.com/shop\n",
    "log.go": (
        'package a\n\nimport (\n\t"os"\n\t"example.com/shop/own"\n\tx "gorm.io/gorm/logger" // why\n)\n\n'
        "type sink struct{}\n\nfunc (sink) Printf(s string) {}\nfunc (sink) inside() {}\n"
    ),
    "Native.kt": "class Native {\n  fun seekOn(a: Int) {}\n}\n",
    "native.cpp": 'void f() { g("seekOn", "(I)Z"); }\nextern "C" void Java_a_Native_go(int a) {}\n',
    "Reply.java": (
        "import com.fasterxml.jackson.databind.JsonNode;\n\nclass Reply {\n"
        "  JsonNode getData() { return data; }\n}\n"
    ),
    "User.java": "class User {\n  String getFullName() { return full; }\n}\n",
    "user.html": '<b th:text="${user.fullName}"></b>\n',
    "Post.php": (
        "<?php\nclass Post {\n  public function getNiceTitleAttribute() {}\n"
        "  public function scopeNewest($q) {}\n"
        "  public function isOpen() {}\n}\n"
    ),
    "Routed.php": (
        '<?php\nclass Routed {\n  /**\n   * Shows.\n   *\n   * @Route("/shown")\n   */\n'
        "  function shownThere() {}\n}\n"
    ),
    "posts.php": "<?php\n$post->nice_title = 1;\n$all->newest();\n",
    "post.twig": "{% if it.open %}\n",
    "Mail.java": "@Service\nclass Mail {\n  Mail(Repo repo) {}\n}\n",
    "wide.rs": (
        "impl<T: Send + Sink<String> + 'static>\n    Transport for Wide<T>\nwhere\n    T: Copy,\n{\n"
        "    fn shut(&self) {}\n}\n"
    ),
    "Style.swift": (
        "struct Round: Style {\n  func made() {}\n}\nextension Style {\n  var round: Round { Round() }\n}\n"
    ),
    "Told.swift": (
        "protocol Telling {\n  func toldOf(_ a: Int)\n}\nclass Asks {\n  var it: Telling\n"
        "  func go() { it.toldOf(1) }\n}\nclass Told {\n  func toldOf(_ a: Int) { }\n}\n"
    ),
    "Dto.swift": "struct Dto: Decodable {\n  init(from decoder: Decoder) throws { }\n}\n",
    "Sum.cs": (
        "class Sum {\n  public int Total => 1;\n}\nclass Made {\n  public Made(int a) {}\n}\n"
        'class Use {\n  void F() { Log($"{Total:N}"); }\n  List<Made> P() { Made made = y ?? new(1); }\n'
        "  void G() { services.Bind<Base, Made>(); }\n}\n"
    ),
    "META-INF/services/a.Plug": "a.b.Plugged\n",
    "Plugged.java": "class Plugged {\n  Plugged() {}\n}\n",
    "bin/show": "#!/usr/bin/env php\n<?php\nfunction shownAs() {}\nx($y->shownAs());\n",
    "Key.swift": "struct Width: PreferenceKey {\n  static func reduce() {}\n}\n",
    "plugins/deny.js": "exports.hook_deny = function () {}\n",
    "loader.js": "for (const each of all) if (each.startsWith('hook_')) plugin[each]()\n",
    "helpers/find-it.js": "module.exports = {\n  go() {},\n  run() {}\n}\n",
    "finder.js": "module.exports = { f: (it) => it.lib.findIt() }\n",
    "lib/unused.ts": "export function lonely() {}\n",
    "shape.js": "export default class Shape {\n  constructor() {}\n}\n",
    "shapes.js": "import shapes from './built/shapes';\nexport const make = (kind) => new shapes[kind]();\n",
    "jobs.js": "exports.sweep = function () {}\n",
    "main.js": "const jobs = require('./jobs');\nlater(jobs[process.argv[2]]);\n",
    "images.py": "class Strategy:\n    def on_saved(self):\n        pass\n",
    "load.py": "from importlib import import_module\n\nimport_module(name).run()\n",
    "settings.py": "STRATEGY = 'images.Strategy'\n",
    "checks.py": (
        "class Checks:\n    def validate_it(self):\n        pass\n\n\n"
        "class Form(Checks, Serializer):\n    pass\n"
    ),
    "setup.rb": "module Setup\n  def grab!(x)\n  end\nend\n",
    "bin/setup": "#!/usr/bin/env ruby\ninclude Setup\n[1].each { grab! 1 }\n",
    "tags.rb": "class Tags\n  def tag_list=(x)\n  end\nend\n",
    "use.rb": "def use(it) = it.find(1).tag_list = 1\n",
    "nested.ts": "class Menu {\n  run() {\n    const act = () => 1;\n    const { x = act } = y;\n  }\n}\n",
    "token.rb": "module Lib\n  # Token here\n  class Token\n    def next_one\n    end\n  end\nend\n",
    "post_policy.rb": "class PostPolicy\n  def publish?\n  end\nend\n",
    "unique.rb": "module Unique\n  def enqueue_at(x)\n  end\nend\n\nLib::Adapter.prepend(Unique)\n",
    "columns.rb": "module Columns\n  def reset_columns\n    super\n  end\nend\n",
    "flags.ts": "export const isDev = make(1);\nif (isDev && shown) {}\n",
    "mailer.ts": "@Injectable()\nclass Mailer {\n  constructor(to) {}\n}\n",
    "socket.ts": "class Client {\n  open() {\n    this.socket.onopen = () => {}\n  }\n}\n",
}


@pytest.mark.parametrize(
    ("target", "unresolved", "registered", "base"),
    [
        ("init", ("index.html:1",), (), ""),  # a constructor's name, but no class around
        ("Case.over", ("A.java:3",), (), ""),  # beside a call of another
        ("Box.__repr__", (), ("its name",), ""),
        ("script.py", (), (), ""),
        ("routes.py", (), ("@app.route",), ""),
        ("drop", (), ("impl Drop",), ""),
        ("Job.begin", (), (), "Thread"),
        ("Ctl.appear", (), (), "Screen"),
        ("ticking", (), ("@Clocked",), ""),
        ("helpers/find-it.js", ("finder.js:1",), ("the object that has it",), ""),  # by what loads it
        ("replies.PING", (), ("the object that has it",), ""),
        ("setup", (), ("the object that has it",), ""),
        ("Setting.table", (), (), "Model"),
        ("Bus.onOpen", (), ("a call whose name is computed",), ""),
        ("Mails.setupSmtp", (), ("a call whose name is computed",), ""),
        ("Log.accessor", (), (), "Facade"),
        ("Width.reduce", (), (), "PreferenceKey"),
        ("Pages.shown", (), (), "Base"),  # although a class here is called so
        ("First.down", (), (), "Step"),
        ("Username.deconstruct", (), (), "CharField"),
        ("Fit.place", (), (), "Layout"),  # of another file's struct
        ("Fit.deinit", (), ("its name",), "Layout"),
        ("Own.Fetch", (), (), "Provider"),
        ("byAge.Swap", (), ("its name",), ""),
        ("Page.__construct", ("routes.php:2",), (), ""),
        (
            "hook_deny",
            (),
            ("a name put together in loader.js:1", "what loads plugins/deny.js, which no file imports"),
            "",
        ),
        ("Shape.constructor", ("shapes.js:2",), ("export default",), ""),
        ("lonely", (), ("what loads lib/unused.ts, which no file imports",), ""),
        ("sweep", (), ("a member taken by a computed name in main.js:2",), ""),
        (
            "Strategy.on_saved",
            (),
            ("settings.py:1, which names Strategy", "what load.py:3 imports by a computed name"),
            "",
        ),
        ("Checks.validate_it", (), (), "Serializer"),
        ("Setup.grab!", ("bin/setup:3",), (), ""),
        ("Tags.tag_list=", ("use.rb:1",), (), ""),
        ("PostPolicy.publish?", (), ("what finds PostPolicy by its name, or has it already",), ""),
        ("Menu.run.act", ("nested.ts:4",), (), ""),
        ("Token.next_one", (), ("what finds Token by its name, or has it already",), ""),
        ("Unique.enqueue_at", (), ("unique.rb:6, which names Unique",), ""),
        ("Columns.reset_columns", (), ("what it overrides",), ""),
        ("isDev", ("flags.ts:2",), (), ""),
        ("Mailer.constructor", (), ("@Injectable",), ""),
        ("onopen", (), ("the object that has it",), ""),
        ("sink.Printf", (), (), "gorm.io/gorm/logger"),
        ("Native.seekOn", ("native.cpp:1",), (), ""),
        ("Java_a_Native_go", (), ("its name",), ""),
        ("Reply.getData", (), ("the property that it is the accessor of",), ""),
        ("User.getFullName", ("user.html:1",), (), ""),
        ("Post.getNiceTitleAttribute", ("posts.php:2",), (), ""),
        ("Post.scopeNewest", ("posts.php:3",), (), ""),
        ("Post.isOpen", ("post.twig:1",), (), ""),
        ("Routed.shownThere", (), ("@Route",), ""),
        ("Mail.Mail", (), ("@Service",), ""),
        ("Wide.shut", (), ("impl Transport",), ""),
        ("Round.made", (), (), "Style"),  # which is only extended here
        ("Told.toldOf", ("Told.swift:6",), (), ""),  # what conforms was not seen
        ("Dto.init", (), ("its name",), ""),
        ("Sum.Total", ("Sum.cs:8",), (), ""),
        ("Made.Made", ("Sum.cs:9", "Sum.cs:10"), (), ""),
        ("Plugged.Plugged", ("META-INF/services/a.Plug:1",), (), ""),
        ("shownAs", ("bin/show:4",), (), ""),
    ],
)
def test_what_may_be_called_has_not_no_caller(short, target, unresolved, registered, base):
    found = call_graph(short, GraphQuestion(target, direction=Direction.CALLERS))
    (known,) = [each.known for each in found.none]
    assert (known.unresolved, known.registered, known.base_outside) == (unresolved, registered, base)
    assert not known.is_without_caller
    (said,) = found.negatives
    assert ("registered by" in said) == bool(registered)  # a base that may call it registers nothing
    may_call = f"an interface of {base}" if "/" in base else f"{base}, a base outside of the repository,"
    assert (f"{may_call} may call it" in said) == bool(base)
    (written,) = json.loads(json_text(found))["without_callers"]
    assert (written["registered"], written["base_outside"]) == (list(registered), base)


def test_no_caller_is_said_of_what_is_imported_and_not_called(make_repository):
    files = {
        "a.ts": "export function idle_now() {}\nexport function busy() {}\n",
        "b.ts": "import { busy } from './a';\nbusy();\n",
        "stores.rb": "class Store\n  def unused_now(x)\n  end\nend\n",
        "main.rb": "Store.new\n",
        "util.py": "def spare_one():\n    pass\n",
        "main.py": "import util\n\nutil.run('idle_later')\n",
    }
    workspace = open_app(make_repository(files))
    workspace.update()
    for target in ("idle_now", "Store.unused_now", "spare_one"):
        (none,) = call_graph(workspace, GraphQuestion(target, direction=Direction.CALLERS)).none
        assert none.sentence.startswith("no caller in"), none.sentence


def test_what_may_use_a_name_is_asked_once_for_all_definitions_of_it(make_repository, monkeypatch):
    files = {f"a{n}.go": f"package a\ntype T{n} struct{{}}\nfunc (t T{n}) Serve() {{}}\n" for n in range(9)}
    files["use.go"] = "package a\nfunc use(n N) {\n\tn.Get().Serve()\n\tn.Put().Serve()\n}\n"
    asked: list[str] = []

    def recorded(name):
        real = getattr(uncalled, name)
        monkeypatch.setattr(uncalled, name, lambda *given: asked.append(name) or real(*given))

    recorded("may_use")
    recorded("bases_in")
    workspace = open_app(make_repository(files))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("Serve", direction=Direction.CALLERS))
    assert {each.known.unresolved for each in found.none} == {("use.go:3", "use.go:4")}
    assert sorted(asked) == ["bases_in", "may_use", "may_use"]
    (known,) = json.loads(json_text(found))["without_callers"]
    assert known["unresolved"] == ["use.go:3", "use.go:4"]
    assert [known["name"], *(each["name"] for each in known["also"])] == [f"T{n}.Serve" for n in range(9)]


def test_a_file_that_could_not_be_cut_is_told_beside_no_caller(make_repository, monkeypatch):
    """The fault is made by hand: none is known that a file can make."""
    cut = records.chunk

    def fail(data, language):
        if data.startswith(b"# bad"):
            raise RuntimeError("no chunks today")
        return cut(data, language)

    monkeypatch.setattr(records, "chunk", fail)
    files = {"bad.py": "# bad\ngetattr(a, 'al' + 'one')()\n", "a.py": "def alone():\n    pass\n"}
    workspace = open_app(make_repository(files))
    workspace.update()
    (none,) = call_graph(workspace, GraphQuestion("alone", direction=Direction.CALLERS)).none
    assert (none.sentence, none.gaps) == ("no caller in 1 file", ("1 file could not be read",))


def test_stubs_are_not_told_as_mentions(make_repository):
    stubs = "    @overload\n    def invoke(self, a: int) -> int: ...\n"
    repo = make_repository(
        {"a.py": f"class Context:\n{stubs * 2}    def invoke(self, a):\n        return a\n"}
    )
    workspace = open_app(repo)
    workspace.update()
    (said,) = call_graph(workspace, GraphQuestion("invoke", direction=Direction.CALLERS)).negatives
    assert said.endswith("no caller in 1 file")


def test_what_only_its_package_knows_no_interface_of_others_lists(short):
    found = call_graph(short, GraphQuestion("sink.inside", direction=Direction.CALLERS))
    assert [each.known.is_without_caller for each in found.none] == [True]


def test_the_places_in_its_own_file_and_folder_come_first(make_repository):
    use, own = "def run(x):\n    x.begin()\n", "def begin():\n    pass\n\n\n"
    files = {"a/use.py": use, "b/c/use.py": use, "b/near.py": use, "b/own.py": own + use, "z.py": use}
    workspace = open_app(make_repository(files))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("begin", direction=Direction.CALLERS))
    (known,) = [each.known for each in found.none]
    places = ["b/own.py:6", "b/c/use.py:2", "b/near.py:2", "a/use.py:2", "z.py:2"]
    assert known.unresolved == tuple(places)


def test_the_scripts_of_a_page_call_what_they_name(make_repository):
    page = "<script>\nfunction raised() {}\nfunction down() { raised(); }\n</script>\n"
    workspace = open_app(make_repository({"page.html": page, "plain.html": "<p>{{ a }}</p>\n"}))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("raised", direction=Direction.CALLERS))
    assert not found.none


CALLED = {
    "shop/store.py": (
        "class Base:\n    def keep(self):\n        pass\n\n\n"
        "class Files(Base):\n    def keep(self):\n        super().keep()\n\n\n"
        "class Own(m.Own):\n    def keep(self):\n        pass\n\n\n"
        "def kept():\n    pass\n"
    ),
    "shop/m.py": "class Own:\n    def keep(self):\n        pass\n",
    "shop/use.py": (
        "from shop.store import Base, Files, kept\n\n\n"
        "def one():\n    Base().keep()\n\n\n"
        "def any(given):\n    given.kept(1)\n    given.kept(2)\n    kept()\n"
    ),
}


def test_what_is_called_is_told_with_the_other_places_that_may_call_it(make_repository):
    workspace = open_app(make_repository(CALLED))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("kept"))
    places = ["shop/use.py:9", "shop/use.py:10"]
    (known,) = json.loads(json_text(found))["unresolved"]
    assert (known["path"], known["name"], known["unresolved"]) == ("shop/store.py", "kept", places)
    assert found.without_callers == ()
    said = f"unresolved in 2 places: {', '.join(places)}"
    assert said in list(CallTree(found.graph, found.none).lines("kept"))
    assert f"kept: {said}" in found.negatives
    (told,) = replies.calls(found, 9, None, is_drawn=False).unresolved
    assert told.known.unresolved == tuple(places)
    assert call_graph(workspace, GraphQuestion("kept", direction=Direction.CALLEES)).unresolved == ()


def test_a_call_of_a_bases_method_may_call_its_override_but_by_super(make_repository):
    """Where the override is not told as likely, the place is told as unresolved."""
    workspace = open_app(make_repository(CALLED))
    workspace.update()
    with calls_of(workspace, None, lambda: None) as (calls, loaded, _):
        nodes = {node.name: node for _, node in calls.nodes()}
        left = uncalled.left_unresolved(workspace, calls, loaded, {nodes["Files.keep"]: []})
        base = uncalled.left_unresolved(workspace, calls, loaded, {nodes["Base.keep"]: []})
    assert left == {nodes["Files.keep"]: ("shop/use.py:5",)}
    assert base == {nodes["Base.keep"]: ()}


@pytest.mark.parametrize(("there", "base"), [(CALLED["shop/m.py"], ""), ("pass\n", "Own")])
def test_a_class_named_like_its_base_has_no_base_outside_if_both_are_here(make_repository, there, base):
    workspace = open_app(make_repository({**CALLED, "shop/m.py": there}))
    workspace.update()
    own = call_graph(workspace, GraphQuestion("shop/store.py:Own.keep", direction=Direction.CALLERS))
    assert [each.known.base_outside for each in own.none] == [base]


MANY = 210
COMMON = {
    "own.py": "".join(f"class C{n}:\n    def keep(self):\n        return {n}\n\n\n" for n in range(3)),
    "sure.py": "from own import C0\n\n\n"
    + "".join(f"def sure{n}():\n    C0().keep()\n\n\n" for n in range(MANY)),
    "above.py": (
        "from own import C0, C1\n\n\n"
        "class Below(C1):\n    def keep(self):\n        super().keep()\n\n\n"
        "class Mixin:\n    def keep(self):\n        super().keep()\n\n\n"
        "class Mixed(Mixin, C2):\n    pass\n\n\n"
        "def told(parent: C0):\n    parent.keep()\n"
    ),
    "likely.py": (
        "from own import C1\n\n\ndef likely(x):\n    it = C1() if x else make()\n    it.keep()\n"
        "    it.keep(given.keep())\n"
    ),
    "any.py": "def any(given):\n" + "    given.keep()\n" * 7,
}


def test_what_is_known_to_call_another_of_a_common_name_is_not_unresolved(make_repository):
    """However many there are; nor by ``super`` of classes that have nothing to do with it."""
    workspace = open_app(make_repository(COMMON))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("keep", direction=Direction.CALLERS))
    left = {
        one.name: set(each.known.unresolved)
        for each in (*found.without_callers, *found.unresolved)
        for one in (each, *each.also)
    }
    common = {f"any.py:{line}" for line in range(2, 9)} | {"likely.py:7"}
    assert left["C0.keep"] == common
    assert left["C2.keep"] == common | {"above.py:11"}
    assert "above.py:11" not in left["Below.keep"]
    assert {"sure.py:5", "above.py:6"}.isdisjoint(set().union(*left.values()))


def test_an_answer_about_many_of_a_name_fits_a_screen(make_repository):
    files = {
        **COMMON,
        "more.py": "".join(f"class M{n}:\n    def keep(self):\n        return {n}\n\n\n" for n in range(50)),
    }
    workspace = open_app(make_repository(files))
    workspace.update()
    question = GraphQuestion("keep", direction=Direction.CALLERS)
    found = call_graph(workspace, question)
    whole = list(CallTree(found.graph, found.none, question=question).lines("keep"))
    shown = list(CallTree(found.graph, found.none, question=question).lines("keep", SCREEN))
    assert len(whole) > 100
    assert len(shown) <= SCREEN
    assert shown[0].startswith("C0.keep  own.py:2  211 callers")
    assert "55 definitions, 25 not listed: name one for its calls; --all lists all" in shown
    (said,) = [line for line in shown if "may call one of" in line]
    assert said.startswith("8 places may call one of 55 definitions: any.py:2, any.py:3")
    assert said in found.negatives
    assert sum("any.py:2" in each for each in found.negatives) == 1
    places = sum(len(each.known.unresolved) for each in found.none)
    assert places > 8 * 50
    one = GraphQuestion("C0.keep", direction=Direction.CALLERS)
    found = call_graph(workspace, one)
    shown = list(CallTree(found.graph, found.none, question=one).lines("C0.keep", SCREEN))
    assert len(shown) <= SCREEN
    assert "called by 211 functions, 181 of them not listed: --all" in shown
    assert shown[2].startswith("┌─ told  above.py")


def test_an_agent_is_told_how_many_definitions_are_left_out(make_repository):
    workspace = open_app(make_repository({f"a{n}.py": "def alone():\n    pass\n" for n in range(8)}))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("alone", direction=Direction.CALLERS))
    told = plain_data(replies.calls(found, 3, None, is_drawn=False))
    assert (len(told["without_callers"]), told["without_callers_left_out"]) == (3, 5)
