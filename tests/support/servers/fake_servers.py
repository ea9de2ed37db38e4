"""Servers of mail and news that a test makes misbehave: small, slow of wit, and obedient.

A subclass overrides ``hook``: what it returns True for it has answered, what it returns
False for ends the line, and None leaves the answer to the server.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

from tapestry.servers.account import ANYWHERE, Account


def letter(n):
    return (
        f"Message-ID: <{n}@x.org>\r\nFrom: Joe <joe@x.org>\r\nSubject: number {n}\r\n\r\n{n}\r\n"
    ).encode()


class _Server:
    """One that talks line for line with whoever calls; ``log`` holds what it was told."""

    greeting: str
    answer: Callable[..., bool | None]

    def __init__(self):
        self.log = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def hook(self, say, command, argument, place):
        return None

    def _serve(self):
        while True:
            try:
                caller, _address = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(caller,), daemon=True).start()

    def _talk(self, caller):
        caller.settimeout(120)
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def say(*lines):
            raws = [line if isinstance(line, bytes) else line.encode() for line in lines]
            caller.sendall(b"".join(raw + b"\r\n" for raw in raws))

        with caller, caller.makefile("rb") as heard:
            state = {}
            try:
                say(self.greeting)
                for line in heard:
                    told = line.decode(errors="surrogateescape").rstrip("\r\n")
                    self.log.append(told)
                    if self.answer(say, told, state) is False:
                        caller.shutdown(socket.SHUT_RDWR)
                        return
            except OSError:
                return


class FakeImap(_Server):
    """An IMAP server with ``folders``: name to UID to bytes."""

    capabilities = "IMAP4rev1"
    knows_next = True

    def __init__(self, folders):
        self.folders = folders
        self.greeting = f"* OK [CAPABILITY {self.capabilities}] hello"
        super().__init__()

    @property
    def account(self):
        return Account("imap", "127.0.0.1", self.port, "none", "joe", "s3cret", allowed=ANYWHERE)

    def listing(self):
        return [f'* LIST () "/" "{name}"'.encode() for name in self.folders]

    def answer(self, say, told, state):
        tag, _space, rest = told.partition(" ")
        command, _space, argument = rest.partition(" ")
        command = command.upper()
        if command == "UID":
            sub, argument = argument.split(" ", 1)
            command = f"UID {sub.upper()}"

        def answered(*lines):
            say(*(line.replace("TAG", tag, 1) if isinstance(line, str) else line for line in lines))

        place = state.get("place")
        done = self.hook(answered, command, argument, place)
        if done is not None:
            return done
        folder = self.folders.get(place, {})
        if command == "CAPABILITY":
            say(f"* CAPABILITY {self.capabilities}")
        elif command == "LIST":
            say(*self.listing())
        elif command == "EXAMINE":
            place = argument.split(" (")[0].strip('"')
            if place not in self.folders:
                say(f"{tag} NO there is no such folder")
                return True
            state["place"], folder = place, self.folders[place]
            say(f"* {len(folder)} EXISTS", "* OK [UIDVALIDITY 1] valid")
            if self.knows_next:
                say(f"* OK [UIDNEXT {max(folder, default=0) + 1}] next")
        elif command == "UID SEARCH":
            asked = argument.upper().removeprefix("(").removesuffix(")").removeprefix("UID ")
            say("* SEARCH" + "".join(f" {uid}" for uid in self._among(folder, asked)))
        elif command == "UID FETCH":
            asked, what = argument.split(" ", 1)
            for n, uid in enumerate(self._among(folder, asked), 1):
                raw = folder[uid]
                if "BODY" in what:
                    say(f"* {n} FETCH (UID {uid} BODY[] {{{len(raw)}}}".encode())
                    say(raw + b")")
                else:
                    say(f"* {n} FETCH (UID {uid} RFC822.SIZE {len(raw)})")
        elif command == "LOGOUT":
            say("* BYE", f"{tag} OK")
            return False
        say(f"{tag} OK done")
        return True

    @staticmethod
    def _among(folder, asked):
        highest = max(folder, default=0)
        found = set()
        for part in asked.split(","):
            first, _colon, last = part.replace("*", str(highest)).partition(":")
            low, high = sorted((int(first), int(last or first)))
            found |= {uid for uid in folder if low <= uid <= high}
        return sorted(found)


class FakeNews(_Server):
    """A news server with ``groups``: name to number to bytes."""

    greeting = "200 hello"

    def __init__(self, groups):
        self.groups = groups
        super().__init__()

    @property
    def account(self):
        return Account("nntp", "127.0.0.1", self.port, "none", allowed=ANYWHERE)

    def overview(self, place, first, last):
        group = self.groups[place]
        return [
            f"{n}\tsubject\tfrom\tdate\t{self._id(group[n])}\t\t10\t1"
            for n in sorted(group)
            if first <= n <= last
        ]

    def answer(self, say, told, state):
        command, _space, argument = told.partition(" ")
        command = command.upper()
        place = state.get("place")
        done = self.hook(say, command, argument, place)
        if done is not None:
            return done
        group = self.groups.get(place, {})
        if command == "CAPABILITIES":
            say("101 see", "VERSION 2", "READER", "OVER", "LIST ACTIVE", ".")
        elif command == "AUTHINFO":
            say("381 more" if argument.upper().startswith("USER") else "281 welcome")
        elif command == "GROUP":
            if argument not in self.groups:
                say("411 there is no such group")
                return True
            state["place"], group = argument, self.groups[argument]
            low, high = min(group, default=1), max(group, default=0)
            say(f"211 {len(group)} {low} {high} group")
        elif command == "LIST" and argument.upper().startswith("OVERVIEW"):
            heads = ("Subject:", "From:", "Date:", "Message-ID:", "References:", ":bytes", ":lines")
            say("215 see", *heads, ".")
        elif command == "LIST":
            listed = [
                f"{name} {max(group, default=0)} {min(group, default=1)} y"
                for name, group in self.groups.items()
            ]
            say("215 see", *(line.encode(errors="surrogateescape") for line in listed), ".")
        elif command in ("OVER", "XOVER"):
            first, _dash, last = argument.partition("-")
            say("224 see", *self.overview(place, int(first), int(last)), ".")
        elif command in ("ARTICLE", "STAT"):
            n = int(argument)
            if n not in group:
                say("423 there is no such article")
            elif command == "STAT":
                say(f"223 {n} {self._id(group[n])}")
            else:
                say(f"220 {n} {self._id(group[n])}", group[n].removesuffix(b"\r\n"), ".")
        elif command == "QUIT":
            say("205 goodbye")
            return False
        else:
            say("500 what?")
        return True

    @staticmethod
    def _id(raw):
        return raw.split(b"Message-ID: ", 1)[1].split(b"\r\n", 1)[0].decode()
