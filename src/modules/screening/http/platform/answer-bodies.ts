// The documented form of answers. Their rules depend on the session and are the domain's, so these classes only describe.
import { ApiProperty } from '@nestjs/swagger';

export class OtpBody {
  @ApiProperty({ description: 'Four to eight digits', example: '123456' }) readonly code!: string;
}

class KbaAnswerBody {
  @ApiProperty({ type: 'integer' }) readonly questionId!: number;
  @ApiProperty({ type: 'integer' }) readonly answerId!: number;
}

export class KbaBody {
  @ApiProperty({ type: [KbaAnswerBody], description: 'One answer to each open question' })
  readonly answers!: readonly KbaAnswerBody[];
}
