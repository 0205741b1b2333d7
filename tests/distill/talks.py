"""Short conversations of our own, worth a note or not, in both languages."""

from __future__ import annotations

from app.distill.gate import Judgement, judge
from app.distill.reading import Reading, read
from app.distill.turns import Transcript, turns_of
from app.domain.conversations import Message, ToolUse

Said = tuple[str, str]


def reading(*said: Said, name: str = "", folder: str = "/home/dev/shop") -> Reading:
    """Read turns given as (role, text); ``edit`` and ``run`` are tools, with a path or command."""
    messages = []
    for number, (role, text) in enumerate(said):
        tool = {"edit": "Edit", "run": "Bash"}.get(role)
        uses = (ToolUse(tool, text, ""),) if tool else ()
        kind, content = ("assistant", "") if tool else (role, text)
        messages.append(Message("", "", None, kind, kind, content, 0, 0, None, "", number, uses))
    return read(Transcript(name, folder, turns_of(messages)))


def judged(*said: Said) -> Judgement:
    """Judge turns."""
    return judge(reading(*said))


POOL = (
    ("user", "Hi! Our nightly export dies with `OSError: [Errno 24] Too many open files` after "
             "about 1000 customers. Raising ulimit only moves the number. What eats them?"),
    ("assistant", "Let me look at export/writer.py."),
    ("run", "cat export/writer.py"),
    ("assistant", "Found it. The writer opens one file per customer and keeps every handle in a "
                  "dict until the end, so the limit is reached at customer 1021."),
    ("user", "ok please fix it"),
    ("edit", "/home/dev/shop/export/writer.py"),
    ("assistant", "The writer now closes each file before it opens the next one, and a test with "
                  "5000 customers passes.\n\n```python\nwith open(path, \"w\") as file:\n"
                  "    file.write(rows)\n```\n\nNever keep handles in a cache without a bound."),
    ("user", "works, thanks"),
)  # fmt: skip
ZH_CACHE = (
    ("user", "上线后首页偶尔显示别人的名字，刷新就好了。Nginx 前面加了缓存，是不是缓存的问题？"),
    ("assistant", "看一下 conf/cache.conf。"),
    ("run", "cat conf/cache.conf"),
    ("assistant", "找到了。缓存键里只有路径，没有带会话，所以两个用户共用了同一份页面。"),
    ("user", "怎么改比较稳？"),
    ("edit", "/home/dev/shop/conf/cache.conf"),
    ("assistant", "我把带 session cookie 的请求改成不走缓存，用两个账号反复刷新没有再串。\n\n"
                  "以后凡是登录后的页面都不要放进公共缓存。"),
    ("user", "好了"),
)  # fmt: skip
DECISION = (
    ("user", "Should we store money as integer cents or as NUMERIC in Postgres for the new ledger? "
             "We need three currencies, one of them without cents."),
    ("assistant", "I recommend NUMERIC(20, 4) with a currency column rather than integer cents. "
                  "Integers need a scale per currency, which every query must know, and yen has "
                  "none. NUMERIC is slower, but the ledger sums thousands of rows, not billions."),
    ("user", "Makes sense. And rounding?"),
    ("assistant", "Round once, when a line is written, with ROUND_HALF_EVEN; never when summing. "
                  "We use the same function in the API and in reports, so that totals agree."),
    ("user", "agreed, let's go with that"),
)  # fmt: skip
QUESTION = (
    ("user", "How do I make `git pull` rebase by default in every repository, without an alias?"),
    ("assistant", "Set it once in the global configuration:\n\n```sh\ngit config --global "
                  "pull.rebase true\ngit config --global rebase.autoStash true\n```\n\nThe second "
                  "line stashes local changes, because a rebase refuses to start with a dirty "
                  "tree. Now every pull replays your commits on top of the remote branch."),
)  # fmt: skip

WORTH = {"pool": POOL, "缓存": ZH_CACHE, "decision": DECISION, "question": QUESTION}

_LOG = "\n".join(f"2026-01-02 10:00:{n % 60:02d} INFO worker {n} done in {n} ms" for n in range(90))
_TRAINING = "\n".join(f"epoch {n}/80 loss={n / 7:.4f} lr=0.001" for n in range(1, 81))

NOT_WORTH: dict[str, tuple[tuple[Said, ...], str]] = {
    "greeting": ((("user", "hello there!"), ("assistant", "Hello! How can I help?")), "small-talk"),
    "你好": ((("user", "你好，在吗？"), ("assistant", "在的，请说。")), "small-talk"),
    "waves": (
        (("user", "ok"), ("assistant", "Going on."), ("user", "yes, go ahead"),
         ("assistant", "Done.")),
        "approval",
    ),
    "同意": (
        (("user", "可以，继续"), ("assistant", "好的。"), ("user", "没问题"),
         ("assistant", "已完成。")),
        "approval",
    ),
    "log": ((("user", _LOG), ("assistant", "All workers are done.")), "raw-log"),
    "training": ((("user", _TRAINING), ("assistant", "The loss rises steadily.")), "raw-log"),
    "weather": (
        (("user", "what is the weather like in Oslo today?"),
         ("assistant", "I cannot see the weather from here.")),
        "small-talk",
    ),
    "chore": (
        (("user", "rename the variable foo to customer_count everywhere please"),
         ("edit", "/home/dev/shop/app.py"),
         ("assistant", "Renamed in 3 places.")),
        "nothing-reusable",
    ),
    "left alone": (
        (("user", "The deploy job fails since this morning with a permission problem, any idea "
                  "what changed on the runner?"),
         ("assistant", "Which runner is it, and can you paste the log of the failing step?"),
         ("user", "never mind, somebody else is on it")),
        "no-outcome",
    ),
    "unsolved": (
        (("user", "Uploads time out behind the VPN but not at home. Can you find out why?"),
         ("assistant", "It could be the MTU. Try 1400 on the client."),
         ("user", "no luck, same error, it still fails")),
        "no-outcome",
    ),
    "没结果": (
        (("user", "帮我看看这个接口为什么慢"), ("assistant", "请问是哪个接口？"),
         ("user", "先不管了")),
        "no-outcome",
    ),
}  # fmt: skip
"""Turns that are worth no note, and the reason that the gate gives."""
