"""Words that say how a sentence is built and not what it is about, English and Chinese.

Owns the two lists. Such words are found in every note, so they neither score nor count.
"""

from __future__ import annotations

from app.lexical.chinese import DICTIONARY
from app.lexical.scripts import is_unspaced

PAIR = 2

_ENGLISH_LIST = """
a about all also am an and any are as at be because been being but by can could did do does doing
for from had has have having he her here hers him his how i if in into is it its itself many me
more most much must my nor of on only or other our ours shall she should so some such than that the
their theirs them then there these they this those through to too up us very was we were what when
where whether which who whom whose why will with would you your yours ain aren couldn didn doesn
don hadn hasn haven isn ll re s shouldn t ve wasn weren won wouldn
"""

_CHINESE_LIST = """
的 了 是 在 和 与 及 或 也 都 就 还 而 但 并 且 被 把 将 让 使 给 对 从 到 向 于 以 为 之 其 此 这
那 哪 我 你 您 他 她 它 们 吗 呢 吧 啊 呀 么 嘛 着 过 地 得 很 太 更 最 再 又 才 只 有 要 会 能 可
则 若 因 由 所 什么 为什么 为什 为何 怎么 怎样 怎么样 怎么办 如何 多少 是否 哪些 哪个 哪里 哪儿
这个 那个 这些 那些 这样 那样 这里 那里 一个 一些 一下 一种 有些 我们 你们 他们 她们 它们 自己 可以
能够 应该 需要 没有 不是 就是 还是 都是 也是 只是 但是 可是 不过 而是 而且 并且 以及 或者 或是 因为
所以 因此 由于 如果 要是 虽然 然后 之后 之前 的话 时候 的时候 对于 关于 为了 已经 正在 一直 非常
比较 這 個 們 與 還 對 為 從 嗎 麼 甚麼 什麼 為什麼 為什 怎麼 怎麼辦 這個 那個 這些 我們 你們 他們
沒有 因為 還是 時候 的時候
"""

FUNCTION_WORDS = frozenset(f"{_ENGLISH_LIST} {_CHINESE_LIST}".split())

_PARTICLES = frozenset("的了吗嗎呢吧啊呀么麼嘛是在和")
_CHARACTERS = frozenset(filter(is_unspaced, (word for word in FUNCTION_WORDS if len(word) == 1)))


def is_function_word(token: str) -> bool:
    """Tell whether a token, as ``tokens`` gives it, is a function word.

    Besides those listed, pairs of characters that only arise where a function word meets its
    neighbour, as in 锁的原因: no dictionary word begins with such a pair.
    """
    if token in FUNCTION_WORDS:
        return True
    if len(token) != PAIR or not is_unspaced(token):
        return False
    first, second = token[0], token[1]
    is_suspect = (
        first in _PARTICLES
        or second in _PARTICLES
        or (first in _CHARACTERS and second in _CHARACTERS)
    )
    return is_suspect and not DICTIONARY.begins_word(token)
