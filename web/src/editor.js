// The editor: CodeMirror with the words of the language, and completion of tensors, labels and words.

import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import {
  EditorView, drawSelection, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

const KEYWORDS = `ALTER ANALYZE AND AS ASC BEGIN BY CANCEL CASE CAST COMMIT COMPARE COPY CREATE CROSS DELETE DESC DESCRIBE
DISTINCT DROP EINSUM ELSE END EXISTS EXPLAIN FALSE FILTER FORMAT FROM FUNCTION GRADIENT GROUP HAVING IN INNER INSERT INTO IS JOIN KILL
LEFT LIKE LIMIT MACRO NOT NULL OFFSET ON OR ORDER OUTER PARTITION REPEAT RESET RETURNING ROLLBACK SELECT SESSIONS SET SHOW TABLE
TEMPORARY TENSOR TENSORS THEN TO TRUE UNION UNTIL UPDATE USER USING VALUES VIEW WHEN WHERE WITH WORKERS`.split(/\s+/);
const FUNCTIONS = `ABS ARGMAX ARGMIN ARGSORT AVG COALESCE CONCAT COS COUNT EXP FLOOR LN LOG LOGSUMEXP MAX MEAN MIN POWER PROD RANDOM
ROUND SIGN SIN SOFTMAX SORT SQRT STDDEV SUM TANH TOPK VARIANCE`.split(/\s+/);
const TYPES = `BFLOAT16 BOOLEAN COMPLEX64 COMPLEX128 FLOAT16 FLOAT32 FLOAT64 INT8 INT32 INT64 INTEGER REAL TEXT`.split(/\s+/);
const words = new Map([
  ...KEYWORDS.map((word) => [word, "keyword"]),
  ...FUNCTIONS.map((word) => [word, "builtin"]),
  ...TYPES.map((word) => [word, "typeName"]),
]);

const language = StreamLanguage.define({
  name: "eindb",
  startState: () => ({ comment: false }),
  token(stream, state) {
    if (state.comment) {
      if (stream.skipTo("*/")) {
        stream.match("*/");
        state.comment = false;
      } else stream.skipToEnd();
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match("--")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match("/*")) {
      state.comment = true;
      return "comment";
    }
    if (stream.match(/^'(?:[^']|'')*'?/)) return "string";
    if (stream.match(/^"(?:[^"]|"")*"?/)) return "variableName";
    if (stream.match(/^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/)) return "number";
    const word = stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u);
    if (word) return words.get(word[0].toUpperCase()) ?? "variableName";
    stream.next();
    return "operator";
  },
  languageData: { commentTokens: { line: "--", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "'", '"'] } },
});

const style = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.standard(tags.variableName), color: "var(--code-function)" },
  { tag: tags.typeName, color: "var(--code-type)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
]);

const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--field)", height: "100%", fontSize: "14px" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--soft)", border: "none" },
  ".cm-activeLine": { backgroundColor: "var(--line-back)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selection) !important" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-matchingBracket": { backgroundColor: "var(--selection) !important", outline: "1px solid var(--line)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textDecorationSkipInk: "none" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
});

/** The names that a text gives labels by heads and references: i and j of X[i, j]. */
function labelsIn(text) {
  const labels = new Set();
  for (const [, inside] of text.matchAll(/\[([^\]]*)\]/g))
    for (const [name] of inside.matchAll(/[\p{L}_][\p{L}\p{N}_]*/gu)) labels.add(name);
  return labels;
}

/** `schema()` gives [{name, labels, info, kind}]. */
function completions(schema) {
  return (context) => {
    const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*/u);
    if (!word && !context.explicit) return null;
    const from = word ? word.from : context.pos;
    const known = schema();
    const before = context.state.sliceDoc(Math.max(0, from - 2000), from);
    const open = before.lastIndexOf("[") > before.lastIndexOf("]");
    const options = [];
    if (open) {
      const tensor = /([\p{L}_][\p{L}\p{N}_]*)\s*\[[^\]]*$/u.exec(before)?.[1];
      const own = known.find((item) => item.name === tensor)?.labels ?? [];
      const other = new Set([...labelsIn(context.state.doc.toString()), ...known.flatMap((item) => item.labels)]);
      own.forEach((label) => other.delete(label));
      if (word) other.delete(word.text);
      options.push(...own.map((label) => ({ label, type: "property", detail: `of ${tensor}`, boost: 2 })));
      options.push(...[...other].map((label) => ({ label, type: "property" })));
    } else {
      for (const { name, labels, info, kind } of known) {
        const indexed = kind === "tensor" && labels.length ? `${name}[${labels.join(", ")}]` : name;
        options.push({ label: name, type: "variable", detail: info, apply: name, boost: 1 });
        if (indexed !== name) options.push({ label: indexed, type: "variable", detail: info, boost: 2 });
      }
      options.push(...KEYWORDS.map((label) => ({ label, type: "keyword" })));
      options.push(...FUNCTIONS.map((label) => ({ label, type: "function", apply: `${label}(` })));
      options.push(...TYPES.map((label) => ({ label, type: "type" })));
    }
    return { from, options, validFor: /^[\p{L}_][\p{L}\p{N}_]*$/u };
  };
}

/** Positions of the server count characters; those of the editor count units of UTF-16. */
export function unitsAt(text, characters) {
  let units = 0;
  for (const character of text) {
    if (characters-- <= 0) break;
    units += character.length;
  }
  return units;
}

/** The statement of a text around a place: {from, text}. Semicolons in strings, quoted names and comments end nothing. */
export function statementAt(text, at) {
  let from = 0;
  for (const mark of text.matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|;/g)) {
    if (mark[0] !== ";") continue;
    const end = mark.index;
    if (end >= at && text.slice(from, end).trim()) return { from, text: text.slice(from, end) };
    if (text.slice(end + 1).trim() === "") return { from, text: text.slice(from, end) };
    from = end + 1;
  }
  return { from, text: text.slice(from) };
}

// Characters with combining marks are left alone, as a caret may stand between them.
function endOfWord(text, at) {
  const word = /^(?:[\p{L}\p{N}_]+|\S)/u.exec(text.slice(at));
  return at + (word ? word[0].length : 0);
}

/** Makes the editor in `host`, whose styles are apart from the page's, as the policy of the page allows none inline. */
export function makeEditor(host, { text, schema, onRun, onCancel, onChange }) {
  const root = host.attachShadow({ mode: "open" });
  const parent = document.createElement("div");
  parent.style.height = "100%";
  root.appendChild(parent);
  const view = new EditorView({
    root,
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(keymap.of([
          { key: "Mod-Enter", run: () => (onRun(), true) },
          { key: "Shift-Enter", run: () => (onRun(), true) },
        ])),
        lineNumbers(), highlightSpecialChars(), history(), drawSelection(), bracketMatching(), closeBrackets(), highlightActiveLine(),
        language, syntaxHighlighting(style), theme,
        autocompletion({ override: [completions(schema)], icons: false }),
        EditorView.contentAttributes.of({ "aria-label": "statements", spellcheck: "false" }),
        EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, { key: "Escape", run: () => onCancel() },
          ...defaultKeymap, { ...indentWithTab, key: "Mod-]", run: indentWithTab.run }]),
      ],
    }),
  });
  return {
    view,
    text: () => view.state.doc.toString(),
    setText(wanted) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: wanted } });
      view.focus();
    },
    focus: () => view.focus(),
    closeCompletion: () => closeCompletion(view),
    clearError: () => view.dispatch(setDiagnostics(view.state, [])),
    /** Marks a place, and sets the caret there. */
    showError(units, message) {
      const whole = view.state.doc.toString();
      const from = Math.min(units, whole.length);
      const to = endOfWord(whole, from);
      view.dispatch(setDiagnostics(view.state, [{ from, to, severity: "error", message }]));
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    },
    statement: () => statementAt(view.state.doc.toString(), view.state.selection.main.head),
    selection() {
      const { from, to } = view.state.selection.main;
      return from === to ? null : { from, text: view.state.sliceDoc(from, to) };
    },
  };
}
