// The rule `language/plain`: comments and test titles are checked against the list.
import { faultsIn, told } from './sentences.mjs';

const TITLED = new Set(['it', 'test', 'describe']);

const plain = {
  meta: { type: 'suggestion', schema: [], messages: { fault: '{{told}}' } },
  create(context) {
    const report = (loc, text) => {
      for (const fault of faultsIn(text)) context.report({ loc, messageId: 'fault', data: { told: told(fault) } });
    };
    return {
      Program() {
        for (const comment of joined(context.sourceCode)) report(comment.loc, comment.text);
      },
      CallExpression(node) {
        const [title] = node.arguments;
        if (title === undefined || !TITLED.has(calledName(node.callee))) return;
        const text = textOf(title);
        if (text !== null) report(title.loc, text);
      },
    };
  },
};

export default { meta: { name: 'language' }, rules: { plain } };

/** Comments as a person reads them: consecutive lines are one text. */
function joined(sourceCode) {
  const texts = [];
  for (const comment of sourceCode.getAllComments()) {
    const last = texts.at(-1);
    const text = comment.type === 'Line' ? comment.value : comment.value.replace(/^[ \t]*\*+/gm, '');
    if (
      last?.line === true &&
      comment.type === 'Line' &&
      comment.loc.start.line === last.loc.end.line + 1 &&
      comment.loc.start.column === last.loc.start.column
    ) {
      last.text += `\n${text}`;
      last.loc = { start: last.loc.start, end: comment.loc.end };
    } else texts.push({ line: comment.type === 'Line', loc: comment.loc, text: withoutDirective(text) });
  }
  return texts;
}

/** Only the reason, in a comment that a tool reads. */
const withoutDirective = (text) => text.replace(/^\s*(?:eslint-|@ts-|prettier-|istanbul )(?:(?!--).)*(?:--)?/s, '');

/** The function name in `it`, `it.only`, `it.each(rows)` and `it.each` with a template. */
function calledName(callee) {
  switch (callee.type) {
    case 'Identifier':
      return callee.name;
    case 'MemberExpression':
      return calledName(callee.object);
    case 'CallExpression':
      return calledName(callee.callee);
    case 'TaggedTemplateExpression':
      return calledName(callee.tag);
    default:
      return null;
  }
}

/** Null for a title that is computed. */
function textOf(node) {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked).join('value');
  return null;
}
