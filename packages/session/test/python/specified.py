"""Runs the Python of the specifications on session logs. Its code is taken from the Markdown files, and is not in this repository.

Input: {"specs": FOLDER, "read": [{"format", "file"}], "write": [{"format", "file", "steps"}],
"resume": [FILE]}. Output: {"read": [...], "resumed": [AGENT]}.
"""

import inspect
import json
import re
import sys
from pathlib import Path


def blocks_of(specs, name):
    text = (Path(specs) / name).read_text(encoding="utf8")
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def run(blocks, wanted, names):
    """Runs the first block that defines each of the wanted names."""
    for name in wanted:
        block = next(one for one in blocks if re.search(rf"^(?:class|def) {name}\b", one, re.M))
        exec(compile(block, name, "exec"), names)
    return names


class Agent:
    """What `load_session` of v1 builds: it asks for no more than this."""

    made = []

    def __init__(self, init_prompt=None):
        self.transcript = init_prompt
        self.subagents = {}
        Agent.made.append(self)


def v1_of(specs):
    names = {"json": json, "Path": Path, "Agent": Agent}
    return run(blocks_of(specs, "session-log-v1.md"), ["SessionLogger", "load_session", "SessionViewer"], names)


def v2_of(specs):
    """v2 has signatures and docstrings only. The bodies are ours, and must have the signatures of the specification."""
    names = run(blocks_of(specs, "session-log-v2.md"), ["Session", "SessionViewer"], {})

    class Viewer(names["SessionViewer"]):
        def __init__(self, session_file):
            with open(session_file, encoding="utf8") as lines:
                self.events = [json.loads(line) for line in lines]

        def list_agents(self):
            created = [one for one in self.events if one["event_type"] == "agent_created"]
            return {one["agent_id"]: one.get("name") for one in created}

        def get_transcript(self, agent_id):
            entries = [one for one in self.events if one["event_type"] == "transcript_entry"]
            return [one for one in entries if one["agent_id"] == agent_id]

    class Session(names["Session"]):
        def __init__(self, session_file):
            self.file, self.count, self.agents = session_file, 0, 0

        @staticmethod
        def load(session_file):
            """As its docstring says: the counters continue after the maximum message_id and agent_id."""
            session = Session(session_file)
            with open(session_file, encoding="utf8") as lines:
                for event in map(json.loads, lines):
                    session.count = max(session.count, int(event["message_id"].split("_")[1]))
                    session.agents = max(session.agents, int(event["agent_id"].split("_")[1]))
            return session

        def allocate_agent_id(self):
            self.agents += 1
            return f"agent_{self.agents:03d}"

        def _log(self, event):
            self.count += 1
            with open(self.file, "a", encoding="utf8") as out:
                out.write(json.dumps({"message_id": f"msg_{self.count:03d}", **event}) + "\n")

        def log_agent_created(self, agent_id, cause=None, name=None, language_model=None):
            optional = {"cause": cause, "name": name, "language_model": language_model}
            given = {key: value for key, value in optional.items() if value is not None}
            self._log({"event_type": "agent_created", "agent_id": agent_id, **given})

        def log_transcript_entry(self, agent_id, message, substance=None):
            link = {} if substance is None else {"substance": substance}
            self._log({"event_type": "transcript_entry", "agent_id": agent_id, **message, **link})

        def log_piece_of_text(self, agent_id, content, cause):
            self._log({"event_type": "piece_of_text", "agent_id": agent_id, "content": content, "cause": cause})

    for ours in (Viewer, Session):
        for name, method in vars(ours).items():
            theirs = vars(ours.__mro__[1]).get(name)
            if theirs is not None and inspect.isfunction(method):
                assert inspect.signature(method) == inspect.signature(theirs), name
    return {"SessionViewer": Viewer, "SessionLogger": Session}


def read(names, format, file):
    viewer = names["SessionViewer"](file)
    agents = viewer.list_agents()
    given = {id: [one for one in viewer.get_transcript(id) if "role" in one] for id in agents}
    if format == "session-v2":
        return {"agents": agents, "transcripts": given}
    Agent.made.clear()
    root = names["load_session"](file)
    built = {one.agent_id: one.transcript for one in Agent.made}
    return {"agents": agents, "transcripts": given, "built": built, "root": root.agent_id}


def resume(names, file):
    """Continues a log as the specification does: with a new agent and a message to it."""
    session = names["SessionLogger"].load(file)
    agent = session.allocate_agent_id()
    session.log_agent_created(agent, name="Continued")
    session.log_transcript_entry(agent, {"role": "user", "content": "Go on."})
    return agent


def write(names, file, steps):
    logger = names["SessionLogger"](file)
    for method, arguments in steps:
        getattr(logger, method)(**arguments)


def main():
    job = json.load(sys.stdin)
    formats = {"session-v1": v1_of(job["specs"]), "session-v2": v2_of(job["specs"])}
    found = [read(formats[one["format"]], one["format"], one["file"]) for one in job["read"]]
    for one in job["write"]:
        write(formats[one["format"]], one["file"], one["steps"])
    resumed = [resume(formats["session-v2"], file) for file in job.get("resume", [])]
    json.dump({"read": found, "resumed": resumed}, sys.stdout)


main()
