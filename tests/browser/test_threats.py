"""Attacks on a running server: markup through every door in Chromium, foreign sites, other sessions, large messages."""

from __future__ import annotations

import http.client
import json
import re
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.servers import ROOT, free_port, running
from tests.browser.conftest import Visit, address_has, keys_answer
from tests.browser.test_config import paste
from tests.browser.test_pages import address
from tests.test_pages import NAMES
from ui.page.fields import GEOMETRY, SCHEME_FIELDS
from ui.page.store import RESERVED
from ui.text.words import PageTexts

pytestmark = pytest.mark.browser
# Each would do something that `evidence` sees: run a script, load a picture, make a link, an icon, an emoji, a formula,
# a colour or a heading.
PAYLOADS = (
    "<script>window.attacked=1</script>",
    "<img src=/attack.png onerror='window.attacked=1'>",
    "<svg/onload='window.attacked=1'>",
    "</style><iframe src=/attack.png>",
    "<a href=https://evil.example>attack</a>",
    "![a](/attack.png)",
    "[attack](https://evil.example)",
    "https://evil.example/attack",
    "www.evil.example",
    "attack@evil.example",
    "[attack](javascript:window.attacked=1)",
    ":material/skull: attack",
    ":streamlit: attack",
    ":skull: attack",
    ":red[attack]",
    ":violet-badge[attack]",
    "$\\href{https://evil.example}{attack}$",
    "$$\\frac{attack}{1}$$",
    "**attack** _attack_ ~~attack~~",
    "`attack`",
    "attack -> attack",
    "{t} {given} attack",
)
EVIDENCE = """() => {
  const found = [], tell = (why, e) => found.push(why + ': ' + e.outerHTML.slice(0, 200));
  if (window.attacked) found.push('a script ran');
  const links = 'a[href*="evil.example"], [src*="attack"], [href*="attack"]:not(link), a[href^="javascript"]';
  document.querySelectorAll(links + ', iframe, object, embed, svg script').forEach(e => tell('element', e));
  document.querySelectorAll('.katex').forEach(e => e.textContent.includes('attack') && tell('formula', e));
  document.querySelectorAll('[data-testid=stIconMaterial], [role=img]').forEach(
    e => e.textContent.trim() === 'skull' && tell('icon', e));
  document.querySelectorAll('img[alt="Streamlit logo"]').forEach(e => tell('logo', e));
  const said = document.body.innerText;
  if (said.includes('\\u{1F480}')) found.push('emoji');
  if (/attack \\u2192 attack/.test(said)) found.push('arrow');
  const marked = 'strong, em, del, h1, h2, h3, h4, p code, span[style*="color"], [class*=Colored], [class*=Badge]';
  document.querySelectorAll(marked).forEach(
    e => e.closest('pre') || /^\\s*attack\\s*$/.test(e.textContent) && tell('markup', e));
  document.querySelectorAll('.js-plotly-plot svg').forEach(svg => svg.querySelectorAll('a, tspan').forEach(
    e => /attack|evil/.test(e.outerHTML) && tell('figure', e)));
  return found;
}"""


class Witness:
    """What payloads achieve in a visitor's tab."""

    def __init__(self, visit: Visit) -> None:
        self.page, self.asked = visit.page, list[str]()
        self.page.on("request", lambda request: self.asked.append(request.url))

    def evidence(self) -> list[str]:
        """Everything that a payload did to the page in view, or requested since the tab was opened."""
        wanted = [f"request: {url}" for url in self.asked if "attack" in urlsplit(url).path or "evil" in url]
        return [*self.page.evaluate(EVIDENCE), *(url for url in wanted if "?" not in url)]


def parameters() -> list[str]:
    """Every URL parameter of every page: the fields that the sources declare, and the frame's own."""
    texts = [path.read_text("utf-8") for place in ("pages", "ui") for path in (ROOT / place).rglob("*.py")]
    declared = {name for text in texts for name in re.findall(r'\bField\(\s*"(\w+)"', text)}
    return sorted(declared | {field.name for field in (*GEOMETRY, *SCHEME_FIELDS)} | set(RESERVED))


def link(name: str, turn: int, lang: str) -> str:
    """Return a page's query with a payload in every parameter; ``turn`` moves the payloads on."""
    query = {single: PAYLOADS[(k + turn) % len(PAYLOADS)] for k, single in enumerate(parameters())}
    query |= {PAYLOADS[turn % len(PAYLOADS)]: "1", "lang": lang}
    query.pop("embed", None)
    query.pop("embed_options", None)
    if name == "encodings":
        # Own sentences are shown as they are: each the same words, the payload among them.
        sentence = f"the dog {PAYLOADS[turn % len(PAYLOADS)].replace(' ', '')}"
        query |= {"sentences": "own", "first": sentence, "second": " ".join(reversed(sentence.split()))}
    return f"?{urlencode(query)}"


def shapes(turn: int) -> dict[str, dict[str, object]]:
    """Configs that carry payloads in every place that the check, the figures and the tables read."""
    p = [PAYLOADS[(turn + k) % len(PAYLOADS)] for k in range(len(PAYLOADS))]
    head = {"hidden_size": 512, "num_attention_heads": 4, "max_position_embeddings": 4096, "rope_theta": 10000.0}
    yarn = {"type": "yarn", "factor": 4, "original_max_position_embeddings": 1024}
    kinds = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}}
    kinds |= {word: {"rope_type": "default", "rope_theta": 1e4} for word in p[:2]}
    return {
        "more": {**head, "model_type": "llama", p[0]: p[1], "dtype": p[2], "architectures": [p[3]]}
        | {"rope_scaling": {**yarn, p[4]: p[5]}},
        "layers": {
            **head,
            "model_type": p[4],
            "layer_types": [*kinds],
            "rope_parameters": kinds,
            "num_hidden_layers": 3,
        },
        "many layers": {**head, "model_type": p[4], "layer_types": [*kinds, *p[5:9]]}
        | {"rope_parameters": kinds | dict.fromkeys(p[5:9], kinds[p[0]]), "num_hidden_layers": 7},
        "types": {**head, "model_type": p[0], "rope_scaling": {"type": p[1], p[2]: p[3]}},
        "values": {"model_type": "llama", "head_dim": p[0], "rope_theta": p[1], "max_position_embeddings": p[2]},
        "lists": {**head, "model_type": "llama"}
        | {"rope_scaling": {"rope_type": "longrope", "short_factor": [p[0]], "long_factor": p[1], "factor": p[2]}},
        "inside": {"model_type": p[0], "text_config": {**head, "model_type": p[1], p[2]: {p[3]: p[4]}}, "dtype": p[5]},
    }


def attacked(visit: Visit, app: str, lang: str, names: tuple[str, ...], turn: int, folder: Path) -> None:
    """Paste hostile configs, look into every fold, and open the report that they give."""
    page, witness = visit.open(f"{app}/config?lang={lang}&open=all"), Witness(visit)
    for name, config in shapes(turn).items():
        if name not in names:
            continue
        paste(visit, page, json.dumps(config), lang)
        expect(page.get_by_text(PageTexts(lang, "config")("shown.paste"))).to_be_visible()
        page.keyboard.press("Escape")
        for fold in page.get_by_role("button", name=PageTexts(lang, "config")("frame.details")).all():
            fold.click()
            visit.settle()
            page.keyboard.press("Escape")
        assert page.locator("[data-testid=stException]").count() == 0, name
        assert witness.evidence() == [], name
        with page.expect_download() as waiting:
            page.get_by_text(PageTexts(lang, "config")("report_html"), exact=True).click()
        report = folder / f"{name}.html"
        report.write_bytes(Path(waiting.value.path()).read_bytes())
        second = visit.context.new_page()
        second.goto(report.as_uri())
        assert second.evaluate(EVIDENCE) == [], name
        assert any(word[:8] in second.inner_text("pre") for word in PAYLOADS), "the report shows the config as text"
        second.close()


def test_markup_in_a_pasted_config_is_text(visit: Visit, app: str, tmp_path: Path) -> None:
    attacked(visit, app, "en", ("more",), 5, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("turn", range(0, len(PAYLOADS), 5))
def test_every_markup_in_every_place_of_a_config_is_text(turn: int, visit: Visit, app: str, tmp_path: Path) -> None:
    attacked(visit, app, "zh" if turn % 2 else "en", tuple(shapes(turn)), turn, tmp_path)


def visited(visit: Visit, app: str, name: str, lang: str, turn: int) -> None:
    """Open a page with a payload in every parameter."""
    witness = Witness(visit)
    page = visit.open(address(app, name, link(name, turn, lang)))
    assert page.locator("[data-testid=stException]").count() == 0
    if name != "encodings":
        expect(page.locator("[data-testid=stAlert]").first).to_be_visible()  # the payloads are answered
    assert witness.evidence() == []


def test_markup_in_the_address_is_text(visit: Visit, app: str) -> None:
    visited(visit, app, "encodings", "en", 1)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_every_markup_in_the_address_of_every_page_is_text(name: str, browser: Browser, app: str) -> None:
    for turn in range(0, len(PAYLOADS), 3):
        single = Visit(browser)
        visited(single, app, name, "zh" if turn % 2 else "en", turn)


def ask(app: str, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """One HTTP request whose path nobody tidies up."""
    connection = http.client.HTTPConnection(urlsplit(app).netloc, timeout=60)
    connection.putrequest(method, path)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


def test_uploads_of_another_site_and_foreign_readers_are_refused(app: str) -> None:
    for method in ("PUT", "DELETE"):
        given = {"Origin": "http://evil.example", "Content-Length": "0"}
        assert ask(app, method, "/_stcore/upload_file/a/b", **given)[0] == 403
    for path in ("/", "/_stcore/health", "/_stcore/host-config"):
        status, headers, body = ask(app, "GET", path, Origin="http://evil.example")
        assert status == 200 and "access-control-allow-origin" not in headers, path
    assert json.loads(body)["allowedOrigins"] == [], "no page around this one may steer it"
    assert ask(app, "POST", "/_stcore/agent/interact")[0] == 403


@pytest.mark.parametrize("prefix", ["/", "/static/", "/media/", "/app/static/", "/component/x/"])
def test_no_path_leads_out_of_the_served_files(prefix: str, app: str) -> None:
    for way in ("../" * 8, "..%2f" * 8, "%2e%2e/" * 8, "..%5c" * 8, "....//" * 8, "/"):
        for target in ("etc/passwd", "app.py", "SECURITY.md", ".git/config", ".streamlit/config.toml"):
            status, _, body = ask(app, "GET", f"{prefix}{way}{target}")
            assert status in (200, 400, 403, 404), (way, target)
            assert b"root:" not in body and b"st.App" not in body and b"[server]" not in body, (way, target)
            # Where it answers at all it is with the app's empty page, as to any unknown path.
            assert status != 200 or body.lstrip().startswith((b"<!--", b"<!doctype")), (way, target)


class Frames:
    """Everything that a tab's websockets receive."""

    def __init__(self, visit: Visit) -> None:
        self.heard: list[bytes] = []
        visit.page.on("websocket", lambda ws: ws.on("framereceived", self._keep))

    def _keep(self, payload: str | bytes) -> None:
        self.heard.append(payload.encode() if isinstance(payload, str) else payload)

    def mention(self, word: str) -> bool:
        """Whether the word came over the wire."""
        return any(word.encode() in frame for frame in self.heard)


@pytest.mark.long
def test_a_session_never_hears_of_another_on_any_page(browser: Browser, app: str) -> None:
    """One session pastes a secret and shows it; another one, meanwhile and afterwards, never hears of it."""
    secret, word = "zebra" * 3, "quagga" * 3
    writer, reader = Visit(browser), Visit(browser, locale="zh-CN")
    wrote, read = Frames(writer), Frames(reader)
    page = writer.open(f"{app}/config?lang=en")
    reader.open(f"{app}/config")
    config = shapes(0)["more"] | {"model_type": secret, secret: secret}
    paste(writer, page, json.dumps(config), "en")
    expect(page.get_by_text(secret).first).to_be_visible()
    writer.open(f"{app}/encodings?lang=en&sentences=own&first={word}+b&second=b+{word}&room={secret}")
    for name in NAMES:
        reader.open(address(app, name, f"?room={word[:6]}"))
        address_has(reader.page, "lang=zh")
    assert wrote.mention(secret) and wrote.mention(word)
    assert not read.mention(secret) and not read.mention(word)
    address_has(writer.page, "lang=en")
    # A file's address is a number of its session; a stranger who has it still needs to know it.
    writer.close()
    reader.open(f"{app}/config")
    assert not read.mention(secret)


def lesson(turn: int) -> bytes:
    """Return a lesson file with a payload in every text."""
    p = [PAYLOADS[(turn + k) % len(PAYLOADS)] for k in range(6)]
    head, step = {"title": p[0]}, {"page": "clock", "say": p[1], "notes": p[2]}
    wanted = {"question": p[3]}
    lines = [*(f"{k} = {json.dumps(v)}" for k, v in head.items()), "minutes = 5", "[[steps]]"]
    lines += [*(f"{k} = {json.dumps(v)}" for k, v in step.items()), "[steps.predict]"]
    lines += [f"question = {json.dumps(wanted['question'])}", f"choices = {json.dumps([p[4], p[5]])}", "answer = 0"]
    return "\n".join(lines).encode()


@pytest.mark.long
@pytest.mark.parametrize("turn", range(0, len(PAYLOADS), 6))
def test_markup_in_a_lesson_is_text(turn: int, visit: Visit, app: str, tmp_path: Path) -> None:
    """Upload a hostile lesson, look at all its places, and upload one that is none."""
    t = PageTexts("en", "stage")
    page, witness = visit.open(f"{app}/clock?display=stage&lang=en"), Witness(visit)
    for name, data in (
        ("..%2f<b>lesson.toml", lesson(turn)),
        ("other.toml", b"title = 1\n" + json.dumps(PAYLOADS[turn]).encode() + b" = 1\n"),
    ):
        (tmp_path / name).write_bytes(data)
        box = page.locator("[data-testid=stPopoverBody] input[type=file]")
        if not box.count():
            page.get_by_role("button", name=t("talks")).first.click()
        box.first.set_input_files(tmp_path / name)
        shown = t("problem") if name == "other.toml" else t("own")
        expect(page.locator("[data-testid=stPopoverBody]").get_by_text(shown).first).to_be_visible()
        expect(page.locator(".st-key-panel-own button")).to_be_visible()
        visit.settle()
        assert witness.evidence() == [], name
    expect(page.get_by_text(t("problem"))).to_be_visible()
    page.locator(".st-key-panel-own button").click()
    address_has(page, "talk=")
    visit.settle()
    assert witness.evidence() == []
    page.locator(".st-key-stage-notes button, .st-key-stage-notes").first.click()
    visit.settle()
    assert witness.evidence() == []
    page.keyboard.press("Escape")
    page.locator("[class*='st-key-predict-choices'] button").first.click()
    expect(page.locator(".st-key-predict-verdict")).to_be_visible()
    visit.settle()
    assert witness.evidence() == []
    assert page.locator("[data-testid=stException]").count() == 0


@pytest.mark.long
def test_without_fonts_every_word_is_still_there(browser: Browser, visit: Visit, app: str) -> None:
    """A network that lets no font through: letters in the browser's own font, no icon's name over a label."""
    visible = (
        "() => [...document.querySelectorAll('[data-testid=stIconMaterial], [style*=\"Material Symbols\"]')]"
        ".filter(e => getComputedStyle(e).visibility !== 'hidden').map(e => e.textContent)"
    )
    page = visit.open(f"{app}/rotation?lang=zh&m=21")
    page.wait_for_function(f"({visible})().length > 3")
    words = [text for text in page.locator("[data-testid=stMain] p:visible").all_inner_texts() if "\n" not in text]
    without = Visit(browser)
    page = without.page
    for kind in ("woff2", "woff", "ttf"):
        page.route(f"**/*.{kind}", lambda route: route.abort())
    without.open(f"{app}/rotation?lang=zh&m=21")
    page.wait_for_timeout(1500)
    fonts = "() => [...document.fonts].filter(f => f.family.includes('Material')).map(f => f.status)"
    assert page.evaluate(fonts) and "loaded" not in page.evaluate(fonts), "the icons' font did not come through"
    assert page.evaluate(visible) == []
    assert len(words) >= 3
    for text in words:
        expect(page.locator("[data-testid=stMain] p:visible").filter(has_text=text).first).to_be_visible()
    expect(page.locator("svg text:visible").first).to_be_visible()


@pytest.mark.long
def test_a_restarted_server_finds_the_lecture_where_it_was(browser: Browser) -> None:
    port = free_port()
    visit = Visit(browser)
    page = visit.page
    line = page.locator(".st-key-stage-line")
    connection = "[data-testid=stApp][data-test-connection-state=%s]"
    with running(ROOT / "app.py", port=port) as (url, server):
        visit.open(f"{url}/?lang=en&display=stage&talk=tour&hide=m")
        keys_answer(visit)
        page.keyboard.press("ArrowRight")
        page.wait_for_url("**step=2**")
        visit.settle()
        before = page.url, line.inner_text()
        server.kill()
        server.wait()
        page.wait_for_selector(connection % "CONNECTED", state="detached")
        expect(page.locator("svg text:visible").first).to_be_visible()
        assert line.inner_text() == before[1]
    with running(ROOT / "app.py", port=port):
        page.wait_for_selector(connection % "CONNECTED")
        visit.settle()
        assert (page.url, line.inner_text()) == before
        # A new server's session knows no buttons: the first press makes it, and its own request is lost.
        page.keyboard.press("ArrowRight")
        keys_answer(visit)
        page.keyboard.press("ArrowLeft")
        page.wait_for_url("**step=1**")
        address_has(page, "hide=m")
    assert page.locator("[data-testid=stException]").count() == 0
