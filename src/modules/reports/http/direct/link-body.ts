import { ApiProperty } from '@nestjs/swagger';
import { Rule, TakesAnything } from '../../../../platform/http/body-pipe.js';
import { ADDRESS_RULES, type Address, addressShape, isAddress } from '../../../../surfaces/wire/address.js';

/** For which unit a report is linked (docs/contract/direct.md#links): looked at, and not kept. */
@TakesAnything()
export class LinkBody {
  @ApiProperty(addressShape('all'))
  @Rule((value) => isAddress(value, 'all'), { message: ADDRESS_RULES.all })
  readonly unitAddress!: Address;
}
