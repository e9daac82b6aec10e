"""Whatever a file is in: the same text at the same lines wherever it is shown."""

from __future__ import annotations

import pytest

from gitrag.actions.exact_search import search_exactly
from gitrag.actions.file_view import view_file
from gitrag.actions.graph import calling_files
from gitrag.actions.lines import read_range
from gitrag.actions.search import SearchOptions
from gitrag.git.conversion import as_stored
from gitrag.search.exact import Pattern
from gitrag.store.scopes import Filters
from gitrag.workspace import Workspace
from tests.support.indexes import asked_often
from tests.support.repository import create_repository, isolated_environment

ASCII = "int main(void) {\n"
CHINESE = "// 读取配置文件\n// 如果没有则返回空\n// 用户登录\n"
JAPANESE = "// ファイルを読み込む\n// 設定がない場合はエラー\n// 在庫を数える\n"
RUSSIAN = "// Читает файл настроек\n// и возвращает всех\n// пользователей\n"
HANT = "// 讀取設定檔\n// 並傳回所有使用者\n// 計算訂單總價\n"
POLISH = "// Żądanie zostało\n// już obsłużone\n// przez usługę\n"
CZECH = "// Načte nastavení\n// příliš žluťoučký\n// kůň úpěl\n"
HUNGARIAN = "// Beállítások betöltése\n// előtt ellenőrzi\n// az űrlapot\n"
ROMANIAN = "// Citeşte setările\n// şi întoarce\n// aceleaşi fişiere\n"
GREEK = "// Διαβάζει το αρχείο\n// και επιστρέφει\n// τους χρήστες\n"
TURKISH = "// Ayarları okur\n// değişen sipariş\n// tutarını hesaplar\n"  # noqa: RUF001
UKRAINIAN = "// Читає файл\n// її повертає\n// користувачів\n"
HEBREW = "// קורא את הקובץ\n// ומחזיר את כל\n// המשתמשים\n"
ARABIC = "// يقرأ ملف الإعدادات\n// ويعيد جميع\n// المستخدمين\n"
ICELANDIC = "// það er þörf á öðru\n// síðan ætlaði hún\n// að sækja það\n"
KOREAN = "// 주문 합계를 계산한다\n// 사용자 설정 파일을\n// 읽는다\n"

# what people have: name, content, a word, the line it is on, and that line
FILES = [
    ("mark-le.sql", "\ufeffGO\nEXEC usp_Close\n".encode("utf-16-le"), "usp_Close", 2, "EXEC usp_Close"),
    ("mark-be.rc", "\ufeffGO\r\nIDD_ABOUT é\r\n".encode("utf-16-be"), "IDD_ABOUT", 2, "IDD_ABOUT é"),
    ("mark-32.txt", "one\ntwo thirtytwo\n".encode("utf-32"), "thirtytwo", 2, "two thirtytwo"),
    ("no-mark.rc", "A\nIDS_PLAIN 7\n".encode("utf-16-le"), "IDS_PLAIN", 2, "IDS_PLAIN 7"),
    ("newlines.txt", "\ufeffਊ\nafter_gurmukhi\n".encode("utf-16-le"), "after_gurmukhi", 2, "after_gurmukhi"),
    ("cp1252.pas", "// x\n// “€Kurs”\n".encode("cp1252"), "€Kurs", 2, "// “€Kurs”"),
    ("latin1.py", "# x\nnaïve = 'größe'\n".encode("latin-1"), "größe", 2, "naïve = 'größe'"),
    ("kasse.php", "<?php\nfunction prüfe() {}\n".encode("latin-1"), "prüfe", 2, "function prüfe() {}"),
    ("undefined.txt", b"x\nodd\x81byte caf\xe9_un\n", "café_un", 2, "odd\x81byte café_un"),
    ("one-byte.py", b'a = "caf\xe9_eins"\nb = "caf\xc3\xa9_zwei"\n', "café_zwei", 2, 'b = "café_zwei"'),
    ("one-byte-2.py", b'a = "caf\xe9_drei"\nb = "caf\xc3\xa9"\n', "café_drei", 1, 'a = "café_drei"'),
    ("Gbk.java", (ASCII + CHINESE).encode("gbk"), "用户登录", 4, "// 用户登录"),
    ("odd-gbk.java", (ASCII + CHINESE).encode("gbk") + b"// caf\xe9 odd\n", "odd", 5, "// café odd"),
    ("sjis.c", (ASCII + JAPANESE).encode("cp932"), "在庫を数える", 4, "// 在庫を数える"),
    ("euc.c", (ASCII + JAPANESE).encode("euc_jp"), "在庫を数える", 4, "// 在庫を数える"),
    ("koi8.c", (ASCII + RUSSIAN).encode("koi8_r"), "пользователей", 4, "// пользователей"),
    ("cp1251.c", (ASCII + RUSSIAN).encode("cp1251"), "всех", 3, "// и возвращает всех"),
    ("koi8u.c", (ASCII + UKRAINIAN).encode("koi8_u"), "користувачів", 4, "// користувачів"),
    ("cp1251-uk.c", (ASCII + UKRAINIAN).encode("cp1251"), "її", 3, "// її повертає"),
    ("cp1250-pl.c", (ASCII + POLISH).encode("cp1250"), "usługę", 4, "// przez usługę"),
    ("latin2-pl.c", (ASCII + POLISH).encode("iso8859_2"), "Żądanie", 2, "// Żądanie zostało"),
    ("cp1250-cs.c", (ASCII + CZECH).encode("cp1250"), "žluťoučký", 3, "// příliš žluťoučký"),
    ("latin2-cs.c", (ASCII + CZECH).encode("iso8859_2"), "kůň", 4, "// kůň úpěl"),
    ("cp1250-hu.c", (ASCII + HUNGARIAN).encode("cp1250"), "űrlapot", 4, "// az űrlapot"),
    ("cp1250-ro.c", (ASCII + ROMANIAN).encode("cp1250"), "şi", 3, "// şi întoarce"),
    ("cp1253.c", (ASCII + GREEK).encode("cp1253"), "χρήστες", 4, "// τους χρήστες"),
    ("cp1254.c", (ASCII + TURKISH).encode("cp1254"), "sipariş", 3, "// değişen sipariş"),
    ("cp1255.c", (ASCII + HEBREW).encode("cp1255"), "המשתמשים", 4, "// המשתמשים"),
    ("cp1256.c", (ASCII + ARABIC).encode("cp1256"), "المستخدمين", 4, "// المستخدمين"),
    ("icelandic.c", (ASCII + ICELANDIC).encode("cp1252"), "síðan", 3, "// síðan ætlaði hún"),
    ("big5.c", (ASCII + HANT).encode("big5"), "計算訂單總價", 4, "// 計算訂單總價"),
    ("euckr.c", (ASCII + KOREAN).encode("euc_kr"), "읽는다", 4, "// 읽는다"),
    ("mark8.py", "\ufeffx = 1\nmarked8 = 2\n".encode(), "marked8", 2, "marked8 = 2"),
    ("converted.u16", "x\nconverted_two\n".encode("utf-16-le"), "converted_two", 2, "converted_two"),
    ("converted.gbk", "x\n配置 converted_gbk\n".encode("gbk"), "converted_gbk", 2, "配置 converted_gbk"),
    (
        "converted.jis",
        "x\n設定 converted_jis\n".encode("iso2022_jp"),
        "converted_jis",
        2,
        "設定 converted_jis",
    ),
]
ATTRIBUTES = (
    "*.u16 working-tree-encoding=UTF-16LE\n*.gbk working-tree-encoding=GBK\n"
    "*.jis working-tree-encoding=ISO-2022-JP\n"
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, model_dir) -> Workspace:
    directory = tmp_path_factory.mktemp("encodings")
    environment = isolated_environment(directory) | {"GITRAG_MODEL_DIR": str(model_dir)}
    files = {".gitattributes": ATTRIBUTES, **{name: data for name, data, *_ in FILES}}
    files["calls.py"] = "def wide_callee():\n    pass\n"
    files["wide.py"] = "from calls import wide_callee\n\ndef wide_caller():\n    wide_callee()\n".encode(
        "utf-16"
    )
    return asked_often(create_repository(directory / "p", environment, files))


@pytest.mark.parametrize(("name", "data", "word", "line", "text"), FILES, ids=[each[0] for each in FILES])
def test_the_same_text_everywhere(workspace, name, data, word, line, text):
    only = SearchOptions(filters=Filters(globs=(f"/{name}",)))
    found = search_exactly(workspace, Pattern(word, is_regex=False), only).answer.hits
    shown = [(hit.path, each.number, each.text) for hit in found for each in hit.snippet]
    assert [each[:2] for each in shown] == [(name, line)]
    [(_, _, indexed)] = shown
    assert indexed == text
    assert read_range(workspace, f"{name}:{line}").text == indexed
    assert view_file(workspace, name).lines[line - 1] == indexed
    assert view_file(workspace, name, "HEAD").lines[line - 1] == indexed
    assert view_file(workspace, name).uncommitted == frozenset()


def test_calls_of_utf_16_are_read(workspace):
    callers, is_whole = calling_files(workspace, lambda _path: True, 60.0)
    assert is_whole
    assert callers["calls.py"] == {"wide.py"}


def test_a_changed_line_of_utf_16_is_uncommitted(workspace):
    path = workspace.repo.root / "mark-le.sql"
    before = path.read_bytes()
    try:
        path.write_bytes(before.replace("usp_Close".encode("utf-16-le"), "usp_Open".encode("utf-16-le")))
        assert view_file(workspace, "mark-le.sql").uncommitted == {2}
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize(
    "name", ["punycode", "idna", "unicode_escape", "raw-unicode-escape", "hex", "nonsense"]
)
def test_what_is_no_encoding_of_files_is_not_asked_for(workspace, name):
    path = f"of.{name}"
    (workspace.repo.git_dir / "info").mkdir(exist_ok=True)
    (workspace.repo.git_dir / "info" / "attributes").write_text(f"{path} working-tree-encoding={name}\n")
    data = b"\x1b" * 50_000 + b"\\u0041-" + b"a" * 50_000  # as punycode it takes seconds
    assert as_stored(workspace.repo, path, data) == data
