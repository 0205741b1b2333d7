/** What the page says, in English and Chinese, and which of them it speaks. */

const TEXTS = {
  skip: ["Skip to the results", "跳到结果"],
  views: ["Views", "视图"],
  graph: ["Graph", "图谱"],
  tags: ["Tags", "标签"],
  conversations: ["Conversations", "对话"],
  status: ["Status", "状态"],
  dark: ["Dark", "深色"],
  query: ["Search your notes", "搜索笔记"],
  placeholder: ["Search your notes, in English or Chinese", "用中文或英文搜索笔记"],
  entrance: ["Search by", "搜索方式"],
  meaning: ["Meaning", "语义"],
  text: ["Text", "文本"],
  ranker: ["Ranker", "排序方法"],
  expand: ["Expand along relations", "沿关系扩展"],
  filters: ["Filters", "筛选"],
  project: ["Project", "项目"],
  tag: ["Tag", "标签"],
  since: ["Since", "起始"],
  until: ["Until", "截止"],
  welcome: ["Type to search. Press / to come back here, arrows to move, Enter to open, Esc to leave.",
    "输入即搜索。按 / 回到搜索框，方向键移动，Enter 打开，Esc 返回。"],
  found: ["{n} notes", "{n} 条笔记"],
  found_one: ["1 note", "1 条笔记"],
  newest: ["The newest {n} of {m}.", "共 {m} 条，显示最新 {n} 条。"],
  none: ["No note answers this.", "没有符合的笔记。"],
  none_of: ["No note answers “{q}”.", "没有笔记能回答“{q}”。"],
  why: ["Why this?", "为什么是它？"],
  why_not: ["Why not another note?", "为什么没有另一条？"],
  why_ask: ["Id, path or title of a note", "笔记的编号、路径或标题"],
  ask: ["Ask", "查询"],
  score: ["Score", "得分"],
  via: ["by relation", "经由关系"],
  back: ["Back", "返回"],
  loading: ["Loading…", "加载中…"],
  relations: ["Relations", "关系"],
  links: ["Links to", "链接到"],
  backlinks: ["Linked from", "被链接"],
  hidden: ["Close but not linked", "相近但未链接"],
  nothing: ["None.", "无。"],
  conversation: ["Conversation", "对话"],
  unresolved: ["not written yet", "尚未写成"],
  place: ["Place {n}", "第 {n} 位"],
  missing: ["Not in the answer", "不在结果中"],
  stages: ["Stages", "各阶段"],
  for_query: ["for “{q}”, ranked by {r}", "查询“{q}”，排序方法 {r}"],
  stage_embed: ["embed", "向量化"],
  stage_filter: ["filter", "筛选"],
  stage_candidates: ["candidates", "候选"],
  stage_words: ["words", "词面"],
  stage_graph: ["graph", "图"],
  stage_rows: ["rows", "读取"],
  stage_relations: ["relations", "关系"],
  stage_rank: ["rank", "排序"],
  numbers: ["Numbers of this note", "这条笔记的数值"],
  search_numbers: ["Numbers of the search", "这次搜索的数值"],
  milliseconds: ["{n} ms", "{n} 毫秒"],
  zoom_in: ["Zoom in", "放大"],
  zoom_out: ["Zoom out", "缩小"],
  reset: ["Whole graph", "全图"],
  its_graph: ["Its graph", "它的图谱"],
  labels: ["Titles", "显示标题"],
  graph_said: ["{n} notes, {m} relations and links", "{n} 条笔记，{m} 条关系与链接"],
  unreachable: ["The server does not answer; trying again…", "服务器没有应答，正在重试…"],
  is_back: ["The server is back.", "服务器已恢复。"],
  notes: ["Notes", "笔记"],
  embedded: ["Embedded", "已向量化"],
  progress: ["{n} of {m} notes embedded", "已向量化 {n}/{m} 条笔记"],
  all_embedded: ["Every note is embedded.", "全部笔记已向量化。"],
  embed_all: ["Embed what waits", "向量化等待中的笔记"],
  provider: ["Provider", "提供方"],
  version: ["Version", "版本"],
  next: ["Next page", "下一页"],
  thinking: ["Thinking", "思考过程"],
  tools: ["Tools", "工具"],
  previous: ["Previous page", "上一页"],
};

let language = localStorage.getItem("language") ?? (navigator.language.startsWith("zh") ? "zh" : "en");

/** Return a text of the page, its {names} replaced. */
export function say(name, values = {}) {
  const text = TEXTS[name][language === "zh" ? 1 : 0];
  return text.replace(/\{(\w)\}/g, (whole, key) => values[key] ?? whole);
}

/** Put the language's texts into the parts of the page that never change. */
export function translate() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = say(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", say(element.dataset.label));
  for (const element of document.querySelectorAll("[data-placeholder]")) element.placeholder = say(element.dataset.placeholder);
  const other = document.getElementById("language");
  other.textContent = language === "zh" ? "English" : "中文";
  other.lang = language === "zh" ? "en" : "zh";
}

/** Speak the other language from now on. */
export function switchLanguage() {
  language = language === "zh" ? "en" : "zh";
  localStorage.setItem("language", language);
  translate();
}
