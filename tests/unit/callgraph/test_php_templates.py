"""Calls of Twig's and Blade's templates: each in the smallest input that shows it."""

from __future__ import annotations

import pytest

from gitrag.callgraph.php_templates import php_of_blade, php_of_twig
from tests.support.callgraphs import calls_of
from tests.unit.callgraph.test_applications import shown

USER = (
    "<?php\nnamespace App\\Entity;\nclass User {\n  private string $name;\n  public $email;\n"
    "  function getFullName(): string {}\n  function isActive() {}\n  function hasMailAddress() {}\n"
    "  function getName() {}\n  function getTown(): Town {}\n  function label($x) {}\n"
    "  /** @return Town[] */ function getTowns(): array {}\n}\nclass Town {\n  function getPostCode() {}\n"
    "  function getName() {}\n}\n"
)
TYPED = "{# @var user \\App\\Entity\\User #}"
EXTENSION = (
    "<?php\nclass Ext {\n  function getFunctions() { return [new TwigFunction('money', [$this, 'toMoney']),"
    " new \\Twig\\TwigFunction('shown', [Run::class, 'show']), new TwigFunction('plain', fn () => 1)]; }\n"
    "  function getFilters() { return [new TwigFilter('loud', $this->shout(...)),"
    " new TwigTest('grown', 'is_grown')]; }\n"
    "  #[AsTwigFunction('made')] function make(): Run {}\n "
    " #[AsTwigFilter(name: 'cut')] function cutIt() {}\n"
    "  function toMoney() {}\n  function shout() {}\n}\nclass Run { function"
    " show() {} function getWholeText() {} }\n"
    "function is_grown() {}\n"
)
HANDED = {
    "Ext.getFunctions ~> Ext.toMoney",
    "Ext.getFunctions ~> Run.show",
    "Ext.getFilters -> Ext.shout",
}
MODEL = (
    "<?php\nnamespace App\\Models;\nclass User {\n  function getFullNameAttribute() {}\n"
    "  function nickName(): Attribute {}\n  function isAdmin() {}\n  function"
    " posts() {}\n  function team(): Team {}\n"
    "}\nclass Team { function title() {} }\n"
)
INPUT = "<?php\nnamespace App\\View\\Components\\Forms;\nclass DateInput { function render() {} }\n"
COUNTER = "<?php\nnamespace App\\Livewire;\nclass Counter { function render() {} function addOneMore() {} }\n"
NAMES = ("one", "two", "three", "four", "five", "six")
SHORT = (
    "<?php\n"
    + "".join(f"function {each}() {{}}\n" for each in NAMES)
    + "class Of extends AbstractExtension {\n"
    + (
        "  function getFunctions() { return ["
        + ", ".join(f"new TwigFunction('{each}', '{each}')" for each in NAMES)
        + "]; }\n}\n"
    )
)

CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "twig, of a type that a comment declares": (
        {
            "U.php": USER,
            "a.html.twig": f"{TYPED}\n{{{{ user.fullName }}}}{{% if user.active"
            f" %}}{{{{ user.town.postCode }}}}"
            "{% endif %}{{ user.label(1, {a: user.hasMailAddress}) }}{{ user.email }}",
        },
        {
            "<module> -> User.getFullName",
            "<module> -> User.isActive",
            "<module> -> User.getTown",
            "<module> -> Town.getPostCode",
            "<module> -> User.label",
            "<module> -> User.hasMailAddress",
        },
    ),
    "twig, of declared types": (
        {"U.php": USER, "a.twig": "{% types user: '\\\\App\\\\Entity\\\\User' %}{{ user.town.name }}"},
        {"<module> -> User.getTown", "<module> -> Town.getName"},
    ),
    "twig, what the class may have itself is only likely": (
        {"U.php": USER, "a.twig": f"{TYPED}{{{{ user.name }}}}"},
        {"<module> ~> User.getName"},
    ),
    "twig, of nothing known, by a telling name alone": (
        {
            "U.php": USER,
            "a.twig": "{{ x.fullName }}{{ x.active }}{{ form.mailAddress }}{{ aForm.mailAddress }}",
        },
        {"<module> ~> User.getFullName"},
    ),
    "twig, a variable named after a class": (
        {"U.php": USER, "a.twig": "{{ user.active }}{{ town.name }}"},
        {"<module> ~> User.isActive"},  # two classes have a `getName`
    ),
    "twig, what a controller gives": (
        {
            "U.php": USER,
            "C.php": "<?php\nuse App\\Entity\\User;\nclass C {\n  function show(User $it) {\n"
            "    return $this->render('a/show.html.twig', ['it' => $it,"
            " 'all' => $it->getTowns()]);\n  }\n}\n",
            "templates/a/show.html.twig": "{{ it.active }}{% for each in all %}{{ each.name }}{% endfor %}"
            "{{ include('a/_row.html.twig') }}",
            "templates/a/_row.html.twig": "{{ it.name }}",
        },
        {
            "C.show -> User.getTowns",
            "C.show ~> <module>",
            "<module> ~> <module>",
            "<module> ~> User.isActive",
            "<module> ~> Town.getName",
            "<module> ~> User.getName",
        },
    ),
    "twig, what PHP registers": (
        {
            "E.php": EXTENSION,
            "a.twig": "{{ money(1) }}{{ shown() }}{{ plain() }}{{ x|loud|cut(1) }}{{ made().wholeText }}"
            "{% if x is not grown %}{% endif %}{% apply loud %}{% endapply %}",
        },
        HANDED
        | {
            "<module> -> Ext.toMoney",
            "<module> -> Run.show",
            "<module> ~> Ext.getFunctions",
            "<module> -> Ext.shout",
            "<module> -> Ext.cutIt",
            "<module> -> Ext.make",
            "<module> -> Run.getWholeText",
            "<module> -> is_grown",
        },
    ),
    "twig, macros": (
        {
            "templates/forms.twig": "{% macro input(name, size = '(a)') %}\n{{"
            " _self.label(name) }}\n{% endmacro %}\n"
            "{% macro label(x) %}{{ x }}{% endmacro %}\n",
            "templates/a.twig": "{% import 'forms.twig' as forms %}{% from"
            " 'forms.twig' import label as said %}"
            "{{ forms.input('a') }}{{ said(1) }}{{ label(1) }}",
        },
        {"input -> label", "<module> -> input", "<module> -> label"},
    ),
    "twig, brackets and strings that hold what ends a tag, and others": (
        {
            "f.php": SHORT,
            "a.twig": "{% include 'b.twig' with {a: {b: one()}} %}{{ x({a: {b: 1}}, two()) }}"
            "{{ '{{ }} it\\'s' ~ three() -}} {{ {a: {b: 1}}}}{{ \"%}\" ~ four() }}{% block a five() %}",
            "b.twig": "{{ six({a: {b: 1}}) }}",
        },
        {
            *(f"<module> -> {each}" for each in NAMES),
            "<module> ~> <module>",
        },
    ),
    "twig, a comment in an expression": (
        {"f.php": SHORT, "a.twig": "{{\n  # don't one()\n  two() # three()\n}}{{ four() }}"},
        {"<module> -> two", "<module> -> four"},
    ),
    "a template of text alone": (
        {
            "a.php": "<?php\nfunction go($x) { $x->render('a.twig'); view('b'); }\n",
            "a.twig": "Hello\n",
            "b.blade.php": "Hello\n",
        },
        {"go ~> <module>"},
    ),
    "twig, what is read of the object itself is only likely": (
        {
            "U.php": "<?php\nclass User { public $name; private $age; function getName() {}"
            "function getAge() {} }\n",
            "a.twig": "{# @var user User #}{{ user.name }}{{ user.age }}",
        },
        {"<module> ~> User.getName", "<module> -> User.getAge"},
    ),
    "twig, a private method is called by none": (
        {
            "U.php": "<?php\nclass User { private function sum() {} function getSum() {} }\n",
            "a.twig": "{# @var user User #}{{ user.sum }}",
        },
        {"<module> -> User.getSum"},
    ),
    "twig, templates of one name": (
        {
            "templates/m.twig": "{% macro a() %}{% endmacro %}",
            "src/AdminBundle/templates/m.twig": "{% macro b() %}{% endmacro %}",
            "one/templates/n.twig": "{% macro c() %}{% endmacro %}",
            "two/templates/n.twig": "{% macro d() %}{% endmacro %}",
            "templates/x.twig": "{% from '@Admin/m.twig' import a, b %}{{ a() }}{{ b() }}",
            "two/templates/x.twig": "{% from 'n.twig' import c, d %}{{ c() }}{{ d() }}",
        },
        {"<module> -> b", "<module> -> d"},
    ),
    "twig, no call": (
        {
            "U.php": USER,
            "a.twig": f"{TYPED}{{# {{{{ user.active }}}} #}}{{% verbatim %}}{{{{"
            f" user.active }}}}{{% endverbatim %}}"
            "{{ 'user.active' }}{{ \"#{1} user.active\" }}user.active()",
        },
        set(),
    ),
    "symfony's routes": (
        {
            "C.php": "<?php\n#[Route('/u', name: 'user_')]\nclass C {\n  #[Route('/{id}', name: 'show')]\n"
            "  function show() {}\n  #[Route('/', name: 'list')]\n  function"
            " all() { return $this->redirectToRoute("
            "'user_show'); }\n}\n",
            "a.twig": "{{ path('user_show', {id: 1}) }}{{ url('show') }}",
        },
        {"C.all ~> C.show", "<module> ~> C.show"},
    ),
    "symfony's routes, in comments": (
        {
            "C.php": '<?php\n/** @Route("/u", name="user_") */\nclass C {\n  /**\n   * Shows (it).\n   *\n'
            '   * @Route("/{id}", requirements={"id"="(a|b)"},\n'
            '   *   name="show")\n   * @Other(name="list")\n   */\n'
            "  function show() {}\n"
            '  /** @Other(name="other") @see Route(name="other") */\n  function other() {}\n}\n',
            "a.twig": "{{ path('user_show', {id: 1}) }}{{ url('user_other') }}{{ path('user_list') }}",
        },
        {"<module> ~> C.show"},
    ),
    "laravel's routes": (
        {
            "r.php": "<?php\nRoute::name('admin.')->prefix('a')->group(function () {\n"
            "  Route::get('/u', [C::class, 'show'])->name('users.show');\n});\n"
            "Route::group(['as' => 'x.'], function () {\n  Route::get('/u', 'C@old')->name('old');\n});\n"
            "Route::middleware(M::class)->get('v', I::class)->name('i');\n"
            "Route::get('no', 'C@new')->name('new');\nRoute::resource('photos', C::class);\n",
            "C.php": "<?php\nfunction no() {}\nclass M {}\nclass C { function show() {} function old() {}"
            " function edit() {} function new() {} }\n"
            "class I { function __invoke() {} }\n",
            "a.blade.php": "{{ route('admin.users.show') }} {{ route('x.old') }} {{ route('users.show') }}\n"
            "{{ route('i') }} {{ route('new') }} {{ route(\"photos.edit\", $x) }}",
        },
        {
            "<module> ~> C.show",
            "<module> ~> C.old",
            "<module> ~> C.edit",
            "<module> ~> C.new",
            "<module> ~> I.__invoke",
        },
    ),
    "laravel's routes, and what a request's address has": (
        {
            "r.php": "<?php\nRoute::get('/u', [C::class, 'show'])->name('user');\n",
            "C.php": "<?php\nclass C { function show() {}\n"
            "  function a($request) { $request->route('user'); }\n"
            "  function b() { return request()->route('user') . $this->route('user'); }\n"
            "  function c() { return redirect()->route('user'); }\n"
            "  function d() { return Redirect::route('user'); }\n}\n",
        },
        {"<module> ~> C.show", "C.c ~> C.show", "C.d ~> C.show"},
    ),
    "blade, its expressions": (
        {
            "M.php": MODEL,
            "h.php": "<?php\nfunction shown($x) {}\n",
            "a.blade.php": "{{-- @var \\App\\Models\\User $it --}}\n@php\n$team = $it->team();\n@endphp\n"
            "@if ($it->isAdmin() && true)\n{!! $team->title() !!} {{{ shown(1)"
            " }}}\n@endif\n{{ $it->full_name }}\n",
        },
        {
            "<module> -> User.team",
            "<module> -> User.isAdmin",
            "<module> -> Team.title",
            "<module> -> shown",
            "<module> -> User.getFullNameAttribute",
        },
    ),
    "blade, what is read of models": (
        {
            "M.php": MODEL,
            "a.blade.php": "@foreach ($user->posts as $post) {{ $post->x }} @endforeach {{ $x->nick_name }}\n"
            "{{ $x->team }} {{ $x->name }} {{ $user->is_admin }} {{ $x->nick_name = 1 }}",
        },
        {"<module> ~> User.posts", "<module> ~> User.nickName"},
    ),
    "blade, what it is given": (
        {
            "M.php": MODEL,
            "P.php": "<?php\nnamespace App;\nclass Prices { function total() {} }\n",
            "C.php": "<?php\nuse App\\Models\\Team;\nclass C { function show(Team $it) {"
            " return view('teams.show', compact('it')); } }\n",
            "resources/views/teams/show.blade.php": "@extends('base')\n@inject('prices', 'App\\Prices')\n"
            "{{ $it->title() }} {{ $prices->total() }} @include('teams._row', ['x' => $prices->total()])",
            "resources/views/teams/_row.blade.php": "{{ $it->title() }}",
            "resources/views/base.blade.php": "@yield('x')",
        },
        {"C.show ~> <module>", "<module> ~> <module>", "<module> ~> Team.title", "<module> -> Prices.total"},
    ),
    "blade, what a controller finds": (
        {
            "M.php": MODEL,
            "C.php": "<?php\nuse App\\Models\\Team;\nclass C { function show() {\n"
            " $it = Team::where(1)->first(); return view('show', ['it' => $it, 'all' => Team::all()]); } }\n",
            "views/show.blade.php": "{{ $it->title() }}",
            "views/all.blade.php": "@foreach ($all as $each) {{ $each->title() }} @endforeach",
            "views/page.blade.php": "@include('all')",
            "D.php": "<?php\nuse App\\Models\\Team;\nclass D { function all() {\n"
            "  $all = Team::paginate(3); return view('page', compact('all')); } }\n",
        },
        {"C.show ~> <module>", "<module> ~> Team.title", "D.all ~> <module>", "<module> ~> <module>"},
    ),
    "blade, components": (
        {
            "I.php": INPUT,
            "N.php": COUNTER,
            "M.php": MODEL,
            "a.blade.php": '<x-forms.date-input :value="$user->isAdmin()" ::no="$user->team()" />\n'
            "<div :class=\"$user->team()\"></div>\n<livewire:counter /> @livewire('counter')\n"
            '<b wire:click="addOneMore(1)"></b> <x-plain/>',
        },
        {
            "<module> ~> DateInput.render",
            "<module> ~> User.isAdmin",
            "<module> ~> Counter.render",
            "<module> ~> Counter.addOneMore",
        },
    ),
    "blade, what looks like a directive in text, and a comment that ends with the code": (
        {
            "f.php": SHORT,
            "a.blade.php": "@admin (or run one()) @if (two()) <?php three(); // it ?> {{ four() }}"
            " @odd(five())",
        },
        {"<module> -> two", "<module> -> three", "<module> -> four", "<module> -> five"},
    ),
    "blade, no call": (
        {
            "M.php": MODEL,
            "a.blade.php": "{{-- @var \\App\\Models\\User $it --}}\n@{{ $it->isAdmin() }}"
            " {{-- {{ $it->isAdmin() }} --}}\n"
            "@verbatim {{ $it->isAdmin() }} @endverbatim\n@@if($it->isAdmin())\na@if($it->isAdmin())\n"
            "@media (max-width: 1px) { a { b: c } }\n$it->isAdmin()\n",
        },
        set(),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected


@pytest.mark.parametrize("name", CASES)
def test_callers_are_those_that_call(name):
    calls = calls_of(CASES[name][0])
    every = [own for own, _ in calls.nodes()]
    found = {(e.caller, e.callee) for own in every for e in calls_of(CASES[name][0]).callers([own])}
    assert found == {(e.caller, e.callee) for e in calls.callees(every)}


def test_calls_of_templates_are_at_their_lines():
    files = {
        "U.php": USER,
        "a.twig": f"\n{TYPED}\n{{{{ [\n  1,\n  user.fullName] }}}}\n\n{{{{ user.active }}}}\n",
        "c.twig": f"{TYPED}{{{{ x('a\nb\n', user.fullName) }}}}\n{{% set\n x =\n user.active %}}\n"
        "{% for x in\n user.town %}{% endfor %}\r\n{% block x\n user.mailAddress %}\n",
        "b.blade.php": "{{-- @var \\App\\Entity\\User $it --}}\n@if(\n "
        " $it->label(1)\n)\n{{\n$it->isActive() }}\n",
    }
    calls = calls_of(files)
    found = calls.callees([own for own, node in calls.nodes() if node.path != "U.php"])
    assert {(edge.caller.path, edge.callee.name, edge.line) for edge in found} == {
        ("a.twig", "User.getFullName", 5),
        ("a.twig", "User.isActive", 7),
        ("c.twig", "User.getFullName", 3),
        ("c.twig", "User.isActive", 6),
        ("c.twig", "User.getTown", 8),
        ("c.twig", "User.hasMailAddress", 10),
        ("b.blade.php", "User.label", 3),
        ("b.blade.php", "User.isActive", 6),
    }


TWIG = "{{ |{{ '|{% a |{% macro a( |{% macro a() %}|{# |{{ a( |{{ [|{{ {|{{ a ? |{% verbatim %}|}}|{{{"
WHOLE = (
    "{{ '" + "\\'" * 200_001 + " }}",
    '{% block "x ' + "\\'" * 200_000 + '" %}',
    "{% types " + "a" * 200_000 + " %}",
    "{% types a" + " " * 200_000 + " %}",
)
BLADE = (
    '{{ |{{{ |{!! |@if( |@foreach($a as $b) |@php |@verbatim |{{-- |<x-a :b="|<?php |( |) |@endphp |wire:a="'
)


@pytest.mark.parametrize("place", range(len(WHOLE)))
def test_a_tag_that_goes_on_and_on(place):
    """Anything but linear time would take minutes to hours."""
    assert len(php_of_twig(WHOLE[place])) < 3 * len(WHOLE[place])


@pytest.mark.parametrize(
    ("read", "text"),
    [(php_of_twig, each) for each in TWIG.split("|")] + [(php_of_blade, each) for each in BLADE.split("|")],
)
def test_a_template_that_goes_on_and_on(read, text):
    """Anything but linear time would take hours; and no code is in the result more than once."""
    page = text * (200_000 // len(text)) + "\n" + text
    assert len(read(page)) < 10 * len(page)
