// The bodies of the report routes (docs/contract/platform.md#sharing, #printing).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, MinLength } from 'class-validator';
import { means, Rule } from '../../../../platform/http/body-pipe.js';

/** The largest page that is printed, in bytes of UTF-8 (docs/contract/general.md#bodies). */
const MAX_HTML_BYTES = 2_000_000;

/** The largest body of that route: the page, with room for JSON escapes. The page of an allowed body may still be too large. */
export const MAX_PDF_BODY_BYTES = 3_000_000;

const required = { message: 'is required and must be a string' };

export class PdfBody {
  @ApiProperty({ description: 'A complete page, at most 2 MB; printed without scripts and network' })
  @Rule(
    (html: string) => Buffer.byteLength(html) <= MAX_HTML_BYTES,
    means('request.too_large', `must have at most ${MAX_HTML_BYTES.toLocaleString('en')} bytes`),
  )
  @MinLength(1, required)
  @IsString(required)
  readonly html!: string;

  @ApiPropertyOptional({ description: 'Name of the saved file' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  readonly filename?: string;
}

export class ShareBody {
  @ApiPropertyOptional({
    format: 'uuid',
    description:
      "The account to share with, unless the session grant names one; without a grant only the caller's own account, its parent or a direct child. Absent: the caller's own; when taking back, all",
  })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  readonly recipientAccountId?: string;
}
