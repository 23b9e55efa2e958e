import { ApiProperty } from '@nestjs/swagger';
import { Rule, TakesAnything } from '../../../../platform/http/body-pipe.js';

const MAX_UNIT_ADDRESS = 255;
const PARTS = ['address', 'city', 'state', 'zip'] as const;

/** For which unit a report is linked (docs/contract/direct.md#links): looked at, and not kept. */
@TakesAnything()
export class LinkBody {
  @ApiProperty({
    oneOf: [
      { type: 'string', minLength: 1, maxLength: MAX_UNIT_ADDRESS },
      {
        type: 'object',
        required: [...PARTS],
        properties: Object.fromEntries(
          PARTS.map((part) => [part, { type: 'string', minLength: 1, maxLength: MAX_UNIT_ADDRESS }]),
        ),
      },
    ],
  })
  @Rule(isUnitAddress, {
    message: `must be text of 1 to ${MAX_UNIT_ADDRESS} characters, or such texts named address, city, state and zip`,
  })
  readonly unitAddress!: string | object;
}

function isUnitAddress(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isText(value);
  return PARTS.every((part) => Object.hasOwn(value, part) && isText((value as Record<string, unknown>)[part]));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_UNIT_ADDRESS;
}
