"""What a hall adds to the book: a lecturer's own lesson file, and a room whose phones follow and vote."""

from __future__ import annotations

import json
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from ui.book.learning import LearningFrame
from ui.figures.tally import vote_sentence
from ui.page.frame import UploadedFile
from ui.present import lessons
from ui.present.addresses import is_local_address
from ui.present.lessons import Lesson, LessonError, LessonProblem
from ui.present.qr import qr_code_html
from ui.present.rooms import normalized_room_name
from ui.present.steps import PredictionState, lesson_summary, problem_sentence
from ui.present.view import LOADED, OWN, ROOM, PageView
from ui.text.escape import escaped_markdown
from ui.text.words import PageTexts

ROOMS = "hall.rooms"
"""The session's address of a service of rooms that knows this browser for a lecturer's; absent without one."""
PROBLEM, REFUSED, VOTES = "hall.problem", "hall.refused", "hall.votes"
"""What is wrong with a lesson file; whether a room's name was none; a question's votes by choice, by question."""
EXAMPLE = "lecture"


class HallFrame(LearningFrame):
    """The parts of *Present* that a lecturer brings along: a lesson file, and a room of a hall."""

    view: PageView

    @property
    def room_name(self) -> str:
        """The name of the room that this reader leads; "" without one."""
        return self.view.room_name if self.session.get(ROOMS) else ""

    def draw_lesson_upload(self, t: PageTexts) -> None:
        """Draw the box for a lesson file, what is wrong with it, and the way to begin it."""

        def take(file: UploadedFile) -> None:
            self.session.pop(PROBLEM, None)
            try:
                self.session[LOADED] = lessons.load_lesson(file.getvalue(), OWN)
            except LessonError as bad:
                self.session[PROBLEM] = bad.problem

        self.write(f"**{t('own')}**")
        self.upload(t("upload"), "present.file", 1, take)
        problem: LessonProblem | None = self.session.get(PROBLEM)
        if problem:
            self.note(f"{t('problem')} {problem_sentence(problem, t)}", "error")
        own: Lesson | None = self.session.get(LOADED)
        if own:
            self.button(lesson_summary(own, t, markdown=False), "present.own", self.view.begin_talk, OWN)
        data = lessons.shipped_talk_bytes(self.t.lang, EXAMPLE).decode()
        self.download(t("example"), data, f"{EXAMPLE}.toml", "application/toml", "present.example")

    def draw_room_form(self, t: PageTexts) -> None:
        """Draw the box for a room's name; below it the room that is open, with what it offers."""
        if not self.session.get(ROOMS):
            return

        def enter(text: str) -> None:
            self.session[REFUSED] = False
            try:
                self.view.put(ROOM, normalized_room_name(text.strip()))
            except ValueError:
                self.session[REFUSED] = True

        self.form(t("room"), t("room_open"), "present.room", enter, hint=t("room_example"))
        if self.session.get(REFUSED):
            self.note(t("room_bad"), "error")
        if not self.room_name:
            self.caption(t("room_help"))
            return
        self.draw_audience_link(t)
        address = f"{self.session[ROOMS]}{quote(self.room_name)}"
        with self.row():
            link = f'<a class="room-votes" href="{escape(address)}/votes.csv">{escape(t("room_votes"))}</a>'
            self.places.add_node("write", link)
            node = self.places.add_control_node(
                "button room-close",
                "present.close",
                f'<button type="button" data-act="{{act}}">{escape(t("room_close"))}</button>',
                lambda _: self.view.put(ROOM, ""),
            )
            node.attributes = {"data-room": address}

    def draw_audience_link(self, t: PageTexts) -> None:
        """Draw the QR code of the room, or of this view, with its address."""
        if self.room_name:
            address = f"{self.session[ROOMS]}{quote(self.room_name)}?{urlencode({'lang': self.t.lang})}"
            self.write(f"**{t('room_shown', room=escaped_markdown(self.room_name))}**")
        else:
            address = self.permalink()
        code = qr_code_html(address, t("qr_alt", url=address))
        self.places.add_node("qr-code", f"{code or ''}<p>{escape(address)}</p>", key="qr")
        if is_local_address(address):
            self.note(t("room_local"), "warning")

    def permalink(self) -> str:
        """Return the address of this view."""
        raise NotImplementedError

    def draw_room_line(self, t: PageTexts, sentence: str, question: PredictionState | None) -> None:
        """Draw the room's line, with what hall.js has the room's phones show: the step, and no answer before it is out.

        Phones show nothing that is beside the question here, which could answer it.
        """
        if not self.room_name:
            return
        words = PageTexts(self.t.lang, "predict")
        content: dict[str, Any] = {"lang": self.t.lang, "say": sentence}
        if question:
            content |= {"id": question.id, "question": question.predict.question}
            content |= {"choices": list(question.predict.choices)}
            content |= {"answer": question.predict.answer} if question.is_answer_seen else {"say": ""}
        name = escape(t("room_shown", room=self.room_name))
        node = self.places.add_node("stage-room", f'<span>{name}</span> <span class="voters"></span>', key="room")
        node.attributes = {
            "data-room": f"{self.session[ROOMS]}{quote(self.room_name)}",
            "data-show": json.dumps(content, ensure_ascii=False),
            "data-answers": words("answers", count="{count}") if question else "",
            "data-lost": words("phone.lost"),
            "data-taken": t("room_taken"),
        }
        votes: dict[str, list[int]] = self.session.setdefault(VOTES, {})

        def count(given: Any) -> None:
            votes[str(given["id"])] = [int(each) for each in given["votes"]]
            # After a reload the room still knows that the answer is out.
            if question and question.id == given["id"]:
                question.reveal_answer()

        self.places.register_handler(node.id, count)

    def draw_vote_counts(self, question: PredictionState) -> None:
        """Write how the room has voted, once its count is there."""
        votes = self.session.get(VOTES, {}).get(question.id)
        if self.room_name and votes:
            self.write(f"▸ {vote_sentence(votes, question.predict.answer, PageTexts(self.t.lang, 'predict'))}")
