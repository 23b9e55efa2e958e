// The parameters that the processor accepts, by call. Any other parameter is refused by name.
import type { NewCheckoutSession } from './checkout-sessions.js';
import { invalid } from './errors.js';
import type { Parameters } from './form.js';
import type { ChangedIntent, NewIntent } from './intents.js';

export function readNewIntent(parameters: Parameters): NewIntent {
  parameters.only(
    'amount',
    'currency',
    'application_fee_amount',
    'transfer_data',
    'metadata',
    'payment_method',
    'payment_method_types',
    'automatic_payment_methods',
    'description',
    'statement_descriptor_suffix',
    'capture_method',
    'expand',
  );
  readAutomaticMethods(parameters.nested('automatic_payment_methods').only('enabled', 'allow_redirects'));
  const captureMethod = parameters.text('capture_method');
  if (captureMethod === 'manual') throw invalid('capture_method', null, 'The sandbox captures at once.');
  return {
    amount: parameters.requiredInteger('amount'),
    currency: parameters.currency('currency'),
    applicationFee: parameters.integer('application_fee_amount'),
    destination: parameters.nested('transfer_data').only('destination').text('destination'),
    metadata: parameters.metadata('metadata'),
    paymentMethod: parameters.text('payment_method'),
  };
}

/** The sandbox never redirects, even if redirects are allowed. */
function readAutomaticMethods(methods: Parameters): void {
  const allowed = methods.text('allow_redirects');
  if (allowed === null || (['always', 'never'].includes(allowed) && methods.text('enabled') === 'true')) return;
  throw invalid(
    'automatic_payment_methods[allow_redirects]',
    null,
    'Must be one of always or never, where enabled is true.',
  );
}

/** The receiver of the money is set at the creation and cannot be changed. */
export function readIntentChange(parameters: Parameters): ChangedIntent {
  parameters.only(
    'amount',
    'currency',
    'application_fee_amount',
    'metadata',
    'payment_method',
    'description',
    'expand',
  );
  return {
    amount: parameters.integer('amount'),
    currency: parameters.has('currency') ? parameters.currency('currency') : null,
    applicationFee: parameters.has('application_fee_amount') ? parameters.integer('application_fee_amount') : undefined,
    metadata: parameters.metadata('metadata'),
    paymentMethod: parameters.text('payment_method'),
  };
}

/** The customer's mail address is checked and not stored, because the sandbox sends no mail. */
export function readCheckoutSession(parameters: Parameters): NewCheckoutSession {
  parameters.only(
    'mode',
    'line_items',
    'success_url',
    'cancel_url',
    'client_reference_id',
    'metadata',
    'payment_intent_data',
    'expires_at',
    'payment_method_types',
    'allowed_payment_method_types',
    'customer_email',
    'customer_creation',
    'submit_type',
    'locale',
    'billing_address_collection',
    'expand',
  );
  if (parameters.requiredText('mode') !== 'payment')
    throw invalid('mode', null, 'The sandbox knows the mode payment only.');
  const items = parameters.each('line_items').map((item) => {
    const price = item
      .only('price_data', 'quantity')
      .nested('price_data')
      .only('currency', 'unit_amount', 'product_data');
    return {
      currency: price.currency('currency'),
      amount: price.requiredInteger('unit_amount') * (item.integer('quantity') ?? 1),
      name: price.nested('product_data').only('name', 'description').requiredText('name'),
    };
  });
  const email = parameters.text('customer_email');
  // The processor accepts only ASCII before the @.
  if (email !== null && !/^[\x21-\x3f\x41-\x7e]+@[^\s@]+\.[^\s@]+$/.test(email))
    throw invalid('customer_email', 'email_invalid', 'Invalid email address');
  const [first] = items;
  if (first === undefined) throw invalid('line_items', 'parameter_missing', 'Missing required param: line_items.');
  if (items.some(({ currency }) => currency !== first.currency))
    throw invalid('line_items', null, 'All line items must have the same currency.');
  const intent = parameters
    .nested('payment_intent_data')
    .only('application_fee_amount', 'transfer_data', 'metadata', 'description');
  const expiresAt = parameters.integer('expires_at');
  return {
    productName: items.map(({ name }) => name).join(', '),
    amount: items.reduce((sum, { amount }) => sum + amount, 0),
    currency: first.currency,
    applicationFee: intent.integer('application_fee_amount'),
    destination: intent.nested('transfer_data').only('destination').text('destination'),
    successUrl: parameters.requiredText('success_url'),
    cancelUrl: parameters.text('cancel_url'),
    clientReferenceId: parameters.text('client_reference_id'),
    metadata: present(parameters.metadata('metadata')),
    intentMetadata: present(intent.metadata('metadata')),
    expiresAt: expiresAt === null ? null : expiresAt * 1_000,
  };
}

function present(metadata: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}
