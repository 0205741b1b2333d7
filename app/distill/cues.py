"""The words by which people say what a sentence states, in two languages.

Owns the lists. They tell how people speak about work, never of one subject matter. A phrase of
several words has underscores; Han cues are found anywhere in a sentence.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _parts(text: str) -> tuple[str, ...]:
    """Return parts, the longest first, so that none is found inside a longer one."""
    return tuple(sorted(text.split(), key=len, reverse=True))


PROBLEM = _words(
    """
    error errors exception exceptions fail fails failed failing failure failures crash crashes
    crashed crashing broken break breaks bug bugs issue issues problem problems doesn't don't
    didn't isn't wasn't won't can't couldn't aren't cannot unable not_working timeout timeouts
    times_out timed_out time_out timing_out hang hangs hanging stuck slow slower slowly leak leaks
    leaked leaking wrong wrongly incorrect incorrectly unexpected unexpectedly flaky missing
    denied refused rejected regression regressed duplicate duplicates duplicated twice lost lose
    loses losing stale corrupt corrupted deadlock deadlocks race panic panics panicked oom
    out_of_memory blank empty garbled off_by complain complains complained struggling weird
    strange stops stopped too_large too_long too_many too_slow too_big blocked freeze freezes
    frozen spike spikes grow grows growing random randomly sometimes disappear disappears
    disappeared vanish vanishes ignored ignores invalid conflict conflicts no_longer_works differ
    differs mismatch dies died killed rising expired expires old intermittently doubled dropped
    drops drop unresponsive loop loops looping endless infinite forever never overflow overflows
    exceeded exceeds unreachable unusable disagree disagrees warning warnings reject rejects
    refuses refuse confused confusing
    """
)

PROBLEM_HAN = _parts(
    """
    报错 错误 异常 失败 崩溃 崩了 挂了 挂掉 无法 不能 不了 不行 卡住 卡死 卡顿 超时 很慢 太慢 变慢
    慢 泄漏 泄露 丢失 丢了 不见了 不生效 没生效 没有生效 没反应 出错 问题 死锁 乱码 白屏 空白 重复
    不一致 不对 不准 不稳定 偶尔 偶发 随机 拒绝 冲突 溢出 爆 打满 耗尽 占满 阻塞 飙 上涨 找不到
    打不开 起不来 连不上 跑不 差了 少了 多了 为空 失效 跨域 被杀 越界 警告 抖动 延迟 过期 没更新
    不更新 不刷新 不触发 对不上 两次 两遍 两条 旧的 漏 怪 停在 一直 涨 死循环 占用 拖垮 重启 中断
    断开 掉线
    """
)

REQUEST = _words(
    """
    how_do how_can how_should how_would how_to best_way right_way proper_way i_want i_need
    i_would_like we_want we_need we_have_to we_should can_you could_you would_you help why
    should_i should_we which_one which_of which_is which_should which_library is_there where_do
    where_does find_out look_at figure_out migrate implement add set_up design refactor speed_up
    optimize optimise upgrade choose decide i'd_like i'd_rather please what_is what's want need
    investigate compare support make convert
    """
)

REQUEST_HAN = _parts(
    """
    怎么 如何 为什么 为啥 帮我 帮忙 请 想 需要 能不能 可不可以 有没有 应该 是不是 哪个 哪里 哪种
    什么原因 看看 看下 看一下 实现 优化 迁移 重构 升级 设计 选 该用 要不要 求 麻烦
    """
)

CAUSE = _words(
    """
    because caused_by cause caused causes due_to the_reason reason turns_out turned_out culprit
    comes_from came_from come_from stems_from happens_when happens_because that's_why which_means
    which_is_why which_made which_makes which_left which_leaves problem_is problem_was issue_is
    issue_was bug_is bug_was the_hole the_trap the_catch so_the so_that so_every so_each so_it
    so_a so_all so_when so_whenever so_two so_both so_its so_no so_one so_any so_nothing
    as_a_result results_in led_to leads_to never_released never_closed never_reset never_called
    never_set never_reached never_awaited never_freed never_cleared never_updated never_ran
    explains explain responsible_for to_blame behind_this behind_it defaults_to default_is blocks
    overwrites overwrote without_releasing without_closing without_awaiting was_never were_never
    was_not were_not was_still were_still is_never are_never evaluated captured captures inherits
    inherited shares shared silently instead_of_the each_time every_time once_per on_every
    for_every before_the after_the although even_though since while therefore hence thus
    """
)

CAUSE_HAN = _parts(
    """
    因为 由于 原因 根因 导致 造成 引起 引发 问题出在 问题在于 症结 罪魁 其实是 原来 所以 因此 于是
    结果 从而 没有释放 没释放 没有关闭 没关 没有清理 没有更新 没有重置 没有归还 没有带 没带 没有被
    没有加 没加 从未 从来没 默认是 默认为 默认值 默认会 默认 每次都 每次 却 根本 定位到 说明 才会
    就会 使得 以至于 触发了 相当于 等于 共用 共享 捕获 仍是 还是 只有 先 被
    """
)

DECISION = _words(
    """
    decided decide decides decision decisions go_with going_with went_with stick_with stay_with
    keep_with choose chose chosen choosing instead_of rather_than prefer preferred trade-off
    trade-offs tradeoff tradeoffs opt_for opted_for recommend recommended recommendation agreed
    in_favor_of in_favour_of better_than simpler_than safer_than simpler safer worth_it settled_on
    picked pick option_a option_b ruled_out let's_use let's_go let's_keep we'll_use we_use i'd_use
    i_would_use use_the over_the
    """
)

DECISION_HAN = _parts(
    """
    决定 选择 选用 选定 采用 改用 方案 而不是 而非 权衡 取舍 倾向 建议 推荐 不如 优于 统一用 就用
    还是用 放弃 比较下来 对比 更适合 定了 结论 最终
    """
)

DONE = _words(
    """
    fixed fixes resolved resolves solved solves added adds changed changes replaced replaces moved
    moves switched switches wrapped wraps removed removes renamed renames set sets bumped pinned
    pins updated updates rewrote rewritten introduced introduces enabled enables disabled disables
    increased raised raises lowered lowers reduced reduces limited limits closed closes released
    releases cached caches batched batches indexed locked locks split splits passed passes used
    uses reads made makes copied copies ordered orders awaited awaits returned returns configured
    migrated marked marks created creates converted converts dropped drops turned swapped
    extracted merged merges derived derives ran runs put puts kept keeps guarded guards handled
    handles reset resets cleared clears debounced throttled mounted mounts declared declares
    registered registers takes took holds held sends sent gets got goes went loads loaded starts
    waits wrote writes computed computes stored stores points pointed installed rebuilt refactored
    stripped escaped quoted signed verifies checks validates allows allowed excludes excluded
    includes included shares streams streamed retried retries bound built compiles compiled opens
    opened shuts survives rejects filters filtered sorts sorted joins joined collects collected
    serves served renders rendered subscribes unsubscribes cancels cancelled canceled aborts
    quantized rounded pass succeed succeeds succeeded finishes finished completes completed
    connects connected
    """
)
"""Verbs that tell what was done when a subject of ours stands before them, or nothing."""

DOERS = _words(
    """
    i we i've we've have has it that which now and is are was were be been
    """
)

HYPOTHETICAL = _words(
    """
    would could might perhaps maybe probably
    """
)

LOOKING = _words(
    """
    looking checking reading searching starting something anything nothing everything during
    according assuming going thinking seeing
    """
)
"""First words in -ing that tell no deed."""

ADVERBS = _words(
    """
    now also then just both all only therefore already always finally simply again not
    """
)

OUTCOME = _words(
    """
    now no_longer anymore from_now_on the_fix the_solution the_remedy the_trick the_cure
    the_workaround the_answer works working green deployed verified confirmed shipped did_it
    that_was_it helped gone stable all_pass tests_pass passing instead without_a_single
    without_error without_errors down_to down_from went_from fell_from fell_to dropped_from
    dropped_to survived zero solved fixed resolved merged matches
    """
)

OUTCOME_HAN = _parts(
    """
    修复 修好 解决 搞定 已经 已把 已将 已改 已加 通过 正常 生效 改成 改为 改用 改到 改了 换成 换为
    替换 加上 加了 增加了 添加了 补上 补了 设为 设置为 设成 调整 调到 调成 调大 调小 移到 挪到
    去掉 删掉 删除了 拆成 拆分 合并 不再 验证 跑通 现在 可以了 好了 成功 恢复 降到 降为 提升到
    没有再 没再 上线 显式 修改 包在 包进 关闭 开启 启用 禁用 加锁 升级到 回退 打通 全绿 放到 放进
    写成 写入 用上 引入 切换 切到 我把 我在 只需 即可 跑了 一致了 归零
    """
)

DENIAL = _words(
    """
    still_fails still_failing still_broken still_happens i_still_get i_still_see still_the_same
    still_crashes still_slow still_hangs still_wrong still_times not_fixed not_solved not_yet
    not_resolved not_sure didn't_help didn't_work didn't_fix didn't_change doesn't_help
    doesn't_work doesn't_fix no_luck no_idea no_clue same_error same_problem same_result
    unresolved won't_fix give_up gave_up couldn't_find couldn't_reproduce cannot_reproduce
    can't_reproduce could_not_reproduce could_not_find nothing_helped
    """
)

DENIAL_HAN = _parts(
    """
    还是不行 还是报错 还是失败 还是一样 还是没 还是有问题 仍然 仍旧 依然 依旧 没解决 没有解决 没用
    没有效果 不起作用 没修好 未解决 没找到 复现不了 无法复现 不确定 没有头绪 没头绪 搞不定
    """
)

LESSON = _words(
    """
    always remember keep_in_mind note_that in_general rule_of_thumb lesson lessons best_practice
    best_practices avoid avoids avoiding make_sure whenever next_time takeaway takeaways in_future
    don't must mustn't never_use never_call never_trust never_put never_rely never_assume
    never_store never_mutate never_share never_hold otherwise pitfall pitfalls beware careful
    would_only would_have the_rule as_long_as only_hides hidden should should_not shouldn't ever
    any_code anyone every matters important
    """
)

LESSON_HAN = _parts(
    """
    记住 以后 总是 避免 注意 切记 经验 教训 原则 一般来说 一般 通常 务必 下次 不要 必须 否则 千万
    凡是 最佳实践 规范 约定 要记得 一定要 永远不 坑 别再 只是掩盖 掩盖 治标 应当 应该 关键 只要
    """
)

POINTERS = _words(
    """
    there_it_is that's_it here's_why found_it found line here's_the here_it_is the_hole clear
    that_explains it_is the_problem the_culprit here's_what see makes_sense the_reason
    """
)

POINTERS_HAN = _parts(
    """
    清楚 找到 问题在 问题就 就是 看到了 原因 定位 明白了 这里 关键
    """
)

CONFIRMATION = _words(
    """
    works worked working fixed solved thanks thank_you perfect passes passed green no_more gone
    great confirmed merged merging deployed that_was_it that_did_it nice matches shipped
    makes_sense agreed go_with sold without_a_single ship_it good excellent brilliant lovely love
    clear convinced exactly right identical same_totals zero finally
    """
)

CONFIRMATION_HAN = _parts(
    """
    好了 可以了 解决了 谢谢 没问题 正常了 生效了 通过了 不错 太好了 确认 成功 搞定 没有再 没再
    就这样 同意 行了 合了 合并 上线 完美 就按 辛苦 绿了 稳定 明白了 懂了 对上了 一致了 多谢 果然
    可以 秒开 快多了 正常
    """
)

HEADINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("cause", _parts("cause why reason diagnos 原因 根因 分析 定位")),
    ("outcome", _parts("fix solution change result what_i_did done 修复 解决 方案 改动 结果 修改")),
    ("decision", _parts("decision recommend choice conclusion 决定 结论 建议 推荐 选型")),
    ("lesson", _parts("lesson takeaway prevent avoid 经验 注意 教训 预防")),
    ("problem", _parts("problem symptom issue 问题 现象 症状")),
)
"""What the sentences under a heading state, by what the heading holds."""

WAVES = _words(
    """
    yes yep yeah yup sure ok okay k go ahead on for it do please proceed continue lgtm looks good
    to me sounds perfect great nice job cool fine thanks thank you a lot so much ty thx cheers
    approve approved ship merge commit this and push the changes them that next no nope stop done
    correct right exactly agreed awesome well y n hi hello hey there morning evening afternoon
    night bye see later test ping all is i'm happy with change step now just again ack roger
    understood got keep going apply accept as your what up how are today doing am wow lol haha
    fix works work worked run try
    """
)
"""Words of turns that only greet, agree, thank or wave on."""

WAVES_HAN = _parts(
    """
    好的 好吧 好了 好啊 好 可以的 可以 行吧 行 嗯嗯 嗯 是的 是 对的 对 没错 继续吧 继续 接着来
    接着 同意 批准 确认 没问题 谢谢你 谢谢 谢了 多谢 辛苦了 辛苦 不错 很好 完美 太好了 太棒了 棒
    提交吧 提交 推送吧 推送 合并吧 合并 搞吧 开始吧 开始 就这样吧 就这样 按你说的来 按你说的做
    按你说的办 下一步 你好 您好 在吗 在么 早上好 晚上好 早 再见 拜拜 不用了 不用 停 完成 了 吧 啊
    呀 哦 的 请 就 都 来 做 改 收到 明白 知道 了解 哈哈 今天 天气 怎么样 代码 这个 改动 一下
    看起来 那 先
    """
)
