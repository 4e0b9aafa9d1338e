"""The corpus: what is in it, what is held out, and that the two never meet."""

import hashlib
from pathlib import Path

import pytest

from rope_core.lab import corpus


def tree(top: Path) -> Path:
    """Return a little library."""
    for number in range(40):
        path = top / f"pkg{number % 3}" / f"m{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# module {number}\n" + "x = 1\n" * (10 * number))
    for left_out in ("test/t.py", "site-packages/s.py", "_sysconfigdata_x.py", "config-3/c.py", "notes.txt"):
        path = top / left_out
        path.parent.mkdir(exist_ok=True)
        path.write_text("secret\n")
    return top


def test_files_are_listed_by_path_size_and_hash(tmp_path: Path) -> None:
    result = corpus.corpus_files(tree(tmp_path))
    assert len(result) == 40
    assert [each.path for each in result] == sorted(each.path for each in result)
    single = (tmp_path / result[5].path).read_bytes()
    assert (result[5].bytes, result[5].sha256) == (len(single), hashlib.sha256(single).hexdigest())
    with pytest.raises(ValueError, match="root must be a folder with Python files"):
        corpus.corpus_files(tmp_path / "nothing")


def test_whole_files_are_held_out_by_the_hash_of_their_path(tmp_path: Path) -> None:
    sources = corpus.corpus_files(tree(tmp_path))
    held = [each for each in sources if each.held_out]
    assert held == [each for each in sources if int(hashlib.sha256(each.path.encode()).hexdigest()[:2], 16) % 8 == 0]
    assert 0 < len(held) < 20
    text, digest = corpus.training_text_and_digest(tmp_path)
    assert b"secret" not in text.tobytes()
    for each in sources:
        first = (tmp_path / each.path).read_bytes().split(b"\n")[0] + b"\n"
        assert (first in text.tobytes() + b"\n") == (not each.held_out)
    assert digest == corpus.corpus_sha256(sources)


def test_the_digest_sees_every_byte_and_every_name(tmp_path: Path) -> None:
    before = corpus.training_text_and_digest(tree(tmp_path))[1]
    path = tmp_path / "pkg1" / "m1.py"
    path.write_text(path.read_text() + "#")
    changed = corpus.training_text_and_digest(tmp_path)[1]
    path.rename(path.with_name("m1b.py"))
    assert len({before, changed, corpus.training_text_and_digest(tmp_path)[1]}) == 3


def test_the_shipped_documents_are_of_held_out_files_and_ascii() -> None:
    listed = {each["path"]: each for each in corpus.shipped_corpus_manifest()["files"]}
    documents = corpus.held_out_documents()
    assert len(documents) >= 40
    assert len({each.path for each in documents}) == len(documents)
    for each in documents:
        assert listed[each.path]["held_out"]
        assert len(each.text) == 4097
        assert each.text.isascii()
    sources = [corpus.CorpusFile(e["path"], e["bytes"], e["sha256"]) for e in corpus.shipped_corpus_manifest()["files"]]
    assert corpus.corpus_sha256(sources) == corpus.shipped_corpus_manifest()["sha256"]
    assert all(source.held_out == listed[source.path]["held_out"] for source in sources)


def test_this_machine_s_library_is_compared_with_the_shipped_list(tmp_path: Path) -> None:
    tree(tmp_path)
    changed = corpus.manifest_differences(tmp_path)
    assert "pkg0/m0.py" in changed
    assert "abc.py" in changed
