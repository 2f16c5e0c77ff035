#!/usr/bin/env python3
"""scripts/packaging/man_pages.py HELP VERSION FOLDER: writes a manual page for a command and each of its subcommands.

HELP is what the command prints for --experimental-dump-help (ArgumentParser's description as JSON). Pages are FOLDER/NAME.1 and
FOLDER/NAME-SUBCOMMAND.1, in the macros man(7).
"""
import json
import pathlib
import re
import sys


def escaped(text):
    """Text in which the formatter finds no request and no escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    text = text.replace("~", "\\(ti")
    return "\n".join("\\&" + line if line.startswith(".") else line for line in text.split("\n"))


def prose(text):
    """Paragraphs; lines that are indented stay as they are."""
    lines = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines.append(".PP")
        literal = False
        for line in block.split("\n"):
            indented = line.startswith("  ")
            if indented != literal:
                lines += [".RS 4", ".nf"] if indented else [".fi", ".RE"]
                literal = indented
            lines.append(escaped(line.strip() if not indented else line[2:]))
        if literal:
            lines += [".fi", ".RE"]
    return lines


def spelling(name):
    return {"long": "--", "short": "-", "longWithSingleDash": "-"}[name["kind"]] + name["name"]


def label(argument):
    """How an argument is written, formatted."""
    value = f"\\fI{escaped(argument.get('valueName', 'value'))}\\fR"
    if argument["kind"] == "positional":
        return value + (" ..." if argument["isRepeating"] else "")
    names = sorted(argument["names"], key=lambda name: name["kind"] != "short")
    text = ", ".join(f"\\fB{escaped(spelling(name))}\\fR" for name in names)
    return text if argument["kind"] == "flag" else f"{text} {value}"


def explanation(argument):
    parts = [argument.get("abstract", "")]
    if argument.get("discussion"):
        parts.append(argument["discussion"])
    if argument.get("allValues"):
        parts.append(f"Values: {', '.join(argument['allValues'])}.")
    if argument.get("defaultValue") is not None and argument["kind"] != "flag":
        parts.append(f"Default: {argument['defaultValue']}.")
    return escaped(" ".join(part.replace("\n", " ") for part in parts if part))


def shown(items):
    return [item for item in items or [] if item["shouldDisplay"]]


def sections(arguments):
    """Arguments by the title of their section, in the order of the help."""
    groups = {}
    for argument in arguments:
        default = "arguments" if argument["kind"] == "positional" else "options"
        groups.setdefault(argument.get("sectionTitle") or default, []).append(argument)
    return sorted(groups.items(), key=lambda group: {"arguments": 0, "options": 2}.get(group[0], 1))


def synopsis(words, arguments, has_commands):
    parts = [f"\\fB{escaped(' '.join(words))}\\fR"]
    if has_commands:
        return parts[0] + " \\fIcommand\\fR [\\fIargument\\fR ...]"
    for argument in arguments:
        if argument["kind"] == "option" and not argument["isOptional"]:
            parts.append(label(argument).split(", ")[-1])
    parts.append("[\\fIoptions\\fR]")
    for argument in arguments:
        if argument["kind"] == "positional":
            text = label(argument)
            parts.append(f"[{text}]" if argument["isOptional"] else text)
    return " ".join(parts)


def page(words, command, version):
    name, program = "-".join(words), words[0]
    arguments, commands = shown(command.get("arguments")), shown(command.get("subcommands"))
    commands = [other for other in commands if other["commandName"] != "help"]
    abstract = command.get("abstract", "").rstrip(".")
    lines = [
        f'.TH {escaped(name.upper())} 1 "" "{escaped(program)} {version}" "{escaped(program)}"',
        ".SH NAME", f"{escaped(name)} \\- {escaped(abstract[:1].lower() + abstract[1:])}",
        ".SH SYNOPSIS", synopsis(words, arguments, bool(commands)),
    ]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", *prose(command["discussion"])]
    if commands:
        lines.append(".SH COMMANDS")
        for other in commands:
            lines += [".TP", f".BR {escaped(name)}\\-{escaped(other['commandName'])} (1)", escaped(other.get("abstract", ""))]
    for title, group in sections(arguments):
        lines.append(f'.SH "{escaped(title.upper())}"')
        for argument in group:
            lines += [".TP", label(argument), explanation(argument)]
    others = ["-".join(words[:-1])] if len(words) > 1 else []
    lines += [".SH SEE ALSO", *(f".BR {escaped(other)} (1)" for other in others)] if others else []
    return "\n".join(lines) + "\n"


def write(words, command, version, folder):
    (folder / ("-".join(words) + ".1")).write_text(page(words, command, version))
    for other in shown(command.get("subcommands")):
        if other["commandName"] != "help":
            write([*words, other["commandName"]], other, version, folder)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    described = json.loads(pathlib.Path(sys.argv[1]).read_text())
    if described["serializationVersion"] != 0:
        sys.exit(f"{sys.argv[1]}: version {described['serializationVersion']} of ArgumentParser's description is not known")
    folder = pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    command = described["command"]
    write([command["commandName"]], command, sys.argv[2], folder)


if __name__ == "__main__":
    main()
