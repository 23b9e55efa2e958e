// The rule `limits/parameters`: a function has few parameters, and a command or query even fewer. Further arguments are passed in one object.
const MESSAGES = new Set(['Command', 'Query']);

const parameters = {
  meta: {
    type: 'suggestion',
    schema: [
      {
        type: 'object',
        properties: { max: { type: 'integer' }, maxOfMessage: { type: 'integer' } },
        required: ['max', 'maxOfMessage'],
        additionalProperties: false,
      },
    ],
    messages: { tooMany: 'It takes {{count}} parameters, and at most {{max}} are allowed: hand on one object.' },
  },
  create(context) {
    const [{ max, maxOfMessage }] = context.options;
    const factories = new Set();
    const many = [];
    const limitOf = (node) => {
      if (isConstructor(node)) return isOfMessage(node) ? maxOfMessage : Infinity;
      return isFactory(node) || factories.has(node.id?.name) ? Infinity : max;
    };
    const collect = (node) => {
      if (node.params.length > maxOfMessage) many.push(node);
    };
    return {
      ...Object.fromEntries(CALLABLE.map((type) => [type, collect])),
      "Property[key.name='useFactory'] > Identifier.value": ({ name }) => factories.add(name),
      'Program:exit'() {
        for (const node of many) {
          const [count, limit] = [node.params.length, limitOf(node)];
          if (count > limit) context.report({ node, messageId: 'tooMany', data: { count, max: limit } });
        }
      },
    };
  },
};

export default { meta: { name: 'limits' }, rules: { parameters } };

const CALLABLE = [
  'ArrowFunctionExpression',
  'FunctionDeclaration',
  'FunctionExpression',
  'TSDeclareFunction',
  'TSEmptyBodyFunctionExpression',
  'TSFunctionType',
  'TSMethodSignature',
];

/** Nest passes dependencies to a constructor, one parameter each. */
const isConstructor = ({ parent }) => parent.type === 'MethodDefinition' && parent.kind === 'constructor';

/** A command or a query is created with its data. */
const isOfMessage = ({ parent }) => MESSAGES.has(parent.parent.parent.superClass?.name);

/** A provider's factory gets its dependencies like a constructor. */
const isFactory = ({ parent }) => parent.type === 'Property' && parent.key.name === 'useFactory';
