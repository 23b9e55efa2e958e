// The documented form of answers. These classes check nothing, because the rules depend on the challenge and are in the domain.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { folded } from '../../../../published/folded-text.js';
import { TakesAnything } from '../../../../platform/http/body-pipe.js';
import type { GivenToParty } from '../../../../published/verifications.js';

const CODE = {
  oneOf: [
    { type: 'string' as const, pattern: '^[0-9]{4,8}$' },
    { type: 'integer' as const, minimum: 1_000, maximum: 99_999_999 },
  ],
  example: '123456',
};

@TakesAnything()
export class PartyOtpBody {
  @ApiPropertyOptional({ ...CODE, description: 'Required, here or as `otp`' })
  @Allow()
  readonly code?: unknown;

  @ApiPropertyOptional({ ...CODE, description: 'Older name of `code`. Ignored when `code` is given' })
  @Allow()
  readonly otp?: unknown;
}

class PartyKbaAnswerBody {
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Position of the chosen answer' }) readonly answer!: number;
}

@TakesAnything()
export class PartyKbaBody {
  @ApiProperty({ type: [PartyKbaAnswerBody], description: 'One answer to each question, in the order presented' })
  @Allow()
  readonly kbaAnswers?: unknown;
}

/** A code may be a number or a text, and spaces around it are ignored. An empty code counts as missing. */
export function codeIn({ code, otp }: PartyOtpBody): GivenToParty {
  const given = code === '' ? otp : (code ?? otp);
  return {
    method: 'otp',
    code: typeof given === 'number' || typeof given === 'string' ? folded(String(given)) : given,
  };
}

export function positionsIn({ kbaAnswers }: PartyKbaBody): GivenToParty {
  const answers: readonly unknown[] = Array.isArray(kbaAnswers) ? kbaAnswers : [];
  return {
    method: 'kba',
    positions: answers.map((one) =>
      typeof one === 'object' && one !== null ? ((one as { answer?: unknown }).answer ?? null) : null,
    ),
  };
}
