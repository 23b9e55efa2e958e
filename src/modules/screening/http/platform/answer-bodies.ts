// The documented form of answers. These classes check nothing, because the rules depend on the session and the domain checks them.
import { ApiProperty } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { folded } from '../../../../published/folded-text.js';
import { TakesAnything } from '../../../../platform/http/body-pipe.js';

@TakesAnything()
export class OtpBody {
  @ApiProperty({ type: String, description: 'Four to eight digits', example: '123456' })
  @Allow()
  readonly code?: unknown;
}

class KbaAnswerBody {
  @ApiProperty({ type: 'integer' }) readonly questionId!: number;
  @ApiProperty({ type: 'integer' }) readonly answerId!: number;
}

@TakesAnything()
export class KbaBody {
  @ApiProperty({ type: [KbaAnswerBody], description: 'One answer to each open question' })
  @Allow()
  readonly answers?: unknown;
}

/** Spaces around a code are ignored. */
export function codeIn({ code }: OtpBody): unknown {
  return typeof code === 'string' ? folded(code) : code;
}
