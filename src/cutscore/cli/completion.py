"""cutscore completion: scripts for shells, made from the parser itself."""

from __future__ import annotations

from argparse import Namespace

from cutscore.cli.parser import COMMANDS


def run(arguments: Namespace) -> tuple[str, int]:
    """The script for a shell."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell](_words()), 0


def _words() -> dict[str, tuple[str, list[str], dict[str, list[str]]]]:
    """Of each command: what it does, its options, and the values of those that have a choice."""
    out = {}
    for command in COMMANDS:
        options, choices = ["-h", "--help"], {}
        for one in (one for group in command.groups.values() for one in group):
            if one.flag.startswith("-"):
                options += one.flags
            for flag in one.flags:
                if one.choices:
                    choices[flag if flag.startswith("-") else "_"] = list(one.choices)
        out[command.name] = command.text, options, choices
    return out


def _bash(words: dict[str, tuple[str, list[str], dict[str, list[str]]]]) -> str:
    cases = []
    for name, (_, options, choices) in words.items():
        chosen = "".join(
            f'\n        [[ $before == {option} ]] && words="{" ".join(values)}"'
            for option, values in choices.items()
            if option != "_"
        )
        more = " ".join([*options, *choices.get("_", [])])
        cases.append(f'      {name})\n        words="{more}"{chosen}\n        ;;')
    listed = "\n".join(cases)
    return f"""_cutscore() {{
  local now=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=""
  if (( COMP_CWORD == 1 )); then
    words="{" ".join(words)} --help --version"
  else
    case ${{COMP_WORDS[1]}} in
{listed}
    esac
  fi
  COMPREPLY=( $(compgen -W "$words" -- "$now") )
}}
complete -o default -o bashdefault -F _cutscore cutscore"""


def _zsh(words: dict[str, tuple[str, list[str], dict[str, list[str]]]]) -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + _bash(words)


def _fish(words: dict[str, tuple[str, list[str], dict[str, list[str]]]]) -> str:
    lines = []
    for name, (text, options, choices) in words.items():
        lines.append(f"complete -c cutscore -n __fish_use_subcommand -a {name} -d '{text}'")
        for option in options:
            dashes = "-l" if option.startswith("--") else "-s"
            values = choices.get(option)
            more = f" -x -a '{' '.join(values)}'" if values else ""
            lines.append(
                f"complete -c cutscore -n '__fish_seen_subcommand_from {name}' {dashes} "
                f"{option.lstrip('-')}{more}"
            )
    return "\n".join(lines)
