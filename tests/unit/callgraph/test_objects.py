"""Calls of what scripts keep in objects, and of what Rust reaches by modules, traits and containers."""

from __future__ import annotations

import pytest

from gitrag.callgraph.extraction import LANGUAGES, extract
from tests.support.callgraphs import calls_of
from tests.unit.callgraph.test_applications import shown

SESSIONS = "module.exports = { init: function (x) {}, show: function (q, r) {} };\n"
VIEW = """
RED.view = (function () {
    function drop(k) {}
    return { getGroup: function () {}, remove: drop };
})();
"""
FACTORY = "function make() { return { run: function () {}, stop: halt }; }\nfunction halt() {}\n"

CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "members of what a file exports, called and handed on": (
        {
            "s.js": SESSIONS,
            "a.js": "var s = require('./s');\nfunction f(app) { s.init(1); app.get('/', s.show); }\n",
        },
        {"f -> exports.init", "f ~> exports.show"},
    ),
    "members of what a file exports, from itself": (
        {
            "a.js": "var api = module.exports = { go: function () { api.stop(); }, stop: function () {} };\n"
            "function f() { module.exports.go(); exports.go(); }\n"
        },
        {"exports.go -> exports.stop", "f -> exports.go"},
    ),
    "a module that is called where it is required": (
        {
            "f.js": "function create(c) {}\nmodule.exports = create;\n",
            "a.js": "exports.boot = c => { c.y = require('./f')(c); };\n",
        },
        {"<module> ~> create", "boot -> create"},
    ),
    "a member of a module that is called where it is required": (
        {"s.js": SESSIONS, "a.js": "function f() { require('./s').init(2); require('./gone')(1); }\n"},
        {"f -> exports.init"},
    ),
    "a member of another module is exported again": (
        {
            "reg.js": "function info(m) {}\nmodule.exports = { info: info };\n",
            "all.js": "var reg = require('./reg');\nmodule.exports = { info: reg.info };\n",
            "one.js": "var all = require('./all');\nexports.tell = all.info;\n",
            "use.js": "var a = require('./all'), o = require('./one');\n"
            "function f() { a.info(1); }\nfunction g() { o.tell(1); }\n",
        },
        {"f -> info", "g -> info", "<module> ~> info"},
    ),
    "a namespace that a function makes at once": (
        {
            "view.js": VIEW,
            "other.js": "RED.tray = (function () { return { getGroup: () => 1, remove: () => 2 }; })();\n",
            "use.js": "function f() { RED.view.getGroup(); RED.view.remove(1); RED.list.remove(1); }\n",
        },
        {"f ~> RED.view.getGroup", "f ~> drop", "RED.view ~> drop"},
    ),
    "a namespace of several parts": (
        {
            "a.js": "App.nodes.icons = (function () { return { code: function () {} }; })();\n",
            "b.js": "App.faces.icons = (function () { return { code: function () {} }; })();\n",
            "use.js": "function f() { window.App.nodes.icons.code(); }\nfunction g(i) { i.code(); }\n",
        },
        {"f ~> App.nodes.icons.code"},
    ),
    "an object that is handed on asks itself": (
        {
            "a.js": "$.widget('x.y', { _show: function () {}, open: function () { this._show(); } });\n",
            "b.js": "$.widget('x.z', { _show: function () {} });\n",
        },
        {"open ~> _show"},
    ),
    "what a constructor is given under another name for itself": (
        {
            "a.js": "function B(n) { var node = this; node.reg = function () { node.link(); };"
            " node.link = function () {}; }\n",
            "b.js": "function C(n) { var node = this; node.link = function () {}; }\n",
        },
        {"B.node.reg ~> B.node.link"},
    ),
    "a function with members, one of them handed on": (
        dict.fromkeys(
            ("a.js", "b.js"),
            "function init($) { function plugins() {} plugins.each = function () {};"
            " plugins.show = function () { plugins.each(); }; $('a').change(plugins.show); }\n",
        ),
        {"init.plugins.show ~> init.plugins.each", "init ~> init.plugins.show"},
    ),
    "what a factory gives": (
        {
            "a.js": f"{FACTORY}module.exports = make;\n",
            "b.js": "const m = require('./a')(1);\nfunction f() { m.run(); m.stop(); }\n",
            "c.js": "function other() { return { run: function () {} }; }\n",
        },
        {"f ~> make.run", "f ~> halt", "make ~> halt", "<module> ~> make", "<module> -> make"},
    ),
    "what a factory gives members and returns": (
        {
            "a.js": "function boot(x) { var app = x(); app.setAll = function () {}; return app; }\n"
            "module.exports = boot;\n",
            "b.js": "const boot = require('./a');\nfunction f() { const it = boot(1); it.setAll(); }\n",
            "c.js": "function low(app) { app.setAll = function () {}; }\n",
        },
        {"f -> boot", "f ~> boot.app.setAll", "<module> ~> boot"},
    ),
    "scripts of a page, and its handlers": (
        {
            "a.html": "<script src='x.js'></script>\n<script type=\"text/javascript\">\n"
            "function up() {}\nfunction down() { up(); }\n</script>\n"
            "<script type='text/html'><b>up()</b></script>\n"
            "<script type='module'>\n  down();\n</script>\n<a onclick=\"up(); return false\">up</a>\n"
        },
        {"down -> up", "<module> -> up", "<module> -> down"},
    ),
    "a page's script asks by another name for itself": (
        {
            "a.html": "<p>up()</p><script>\nfunction Box() {\n  var that = this;\n"
            "  this.take = function (t) {};\n  this.open = function () { that.take(1); };\n}\n</script>\n"
        },
        {"Box.open ~> Box.take"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected


def test_a_script_of_a_page_keeps_its_lines_and_a_template_says_nothing():
    calls = calls_of({"a.html": CASES["scripts of a page, and its handlers"][0]["a.html"]})
    edges = calls.callees([own for own, _ in calls.nodes()])
    assert {(edge.callee.name, edge.callee.line_start, edge.lines) for edge in edges} == {
        ("up", 3, (4,)),
        ("up", 3, (10,)),
        ("down", 4, (8,)),
    }
    assert "html" in LANGUAGES
    assert not extract(b"<script>\n{% if a %} %} {{ {% ]] )) {{{ b }}\n</script>", "html").failure
