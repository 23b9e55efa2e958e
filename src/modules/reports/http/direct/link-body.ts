import { ApiProperty } from '@nestjs/swagger';
import { Rule, TakesAnything } from '../../../../platform/http/body-pipe.js';
import { ADDRESS_RULES, type Address, addressShape, isAddress } from '../../../../surfaces/wire/address.js';

/** The unit for which a report is linked (docs/contract/direct.md#links). The service checks the address of the unit and does not store it. */
@TakesAnything()
export class LinkBody {
  @ApiProperty(addressShape('all'))
  @Rule((value) => isAddress(value, 'all'), { message: ADDRESS_RULES.all })
  readonly unitAddress!: Address;
}
