// ops accounts certify
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CommandBus } from '@nestjs/cqrs';
import { Option, SubCommand } from 'nest-commander';
import { END_USER_TYPES, type EndUserType } from '../kernel/end-user-type.js';
import { PERMISSIBLE_PURPOSES, type Certification, type PermissiblePurpose } from '../kernel/permissible-purpose.js';
import { CertifyPurposes } from '../modules/accounts/application/certify-purposes.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';
import { idIn, listIn, oneOf, timeIn, WrongInput } from './operator.js';
import { print } from './output.js';

interface CertifyValues extends ConsentValues {
  readonly purposes: Certification['purposes'];
  readonly endUsers?: NonNullable<Certification['endUserTypes']>;
  readonly text: string;
  readonly by: string;
  readonly until: Date;
}

@SubCommand({
  name: 'certify',
  arguments: '<account>',
  description: 'Record the permissible purposes that an account has certified; they replace the earlier ones',
})
export class CertifyAccountCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly consent: Consent,
  ) {
    super();
  }

  @Option({ flags: '--purposes <list>', description: PERMISSIBLE_PURPOSES.join(','), required: true })
  readPurposes(text: string): readonly PermissiblePurpose[] {
    return listIn(text).map((one) => oneOf(one, PERMISSIBLE_PURPOSES, '--purposes'));
  }

  @Option({
    flags: '--end-users <list>',
    description: `kinds of end users, one of which each read must name: ${END_USER_TYPES.join(',')}; any if not given`,
  })
  readEndUsers(text: string): readonly EndUserType[] {
    return listIn(text).map((one) => oneOf(one, END_USER_TYPES, '--end-users'));
  }

  @Option({
    flags: '--text <file>',
    description: 'the signed text, of which the log keeps the SHA-256',
    required: true,
  })
  readText(path: string): string {
    try {
      return createHash('sha256').update(readFileSync(path)).digest('hex');
    } catch (error) {
      throw new WrongInput(`The file of --text cannot be read: ${(error as Error).message}.`);
    }
  }

  @Option({
    flags: '--by <id>',
    description: 'id by which the account knows the person who signed; it must not be a name',
    required: true,
  })
  readBy(text: string): string {
    return text;
  }

  @Option({ flags: '--until <time>', description: 'end of the certification (ISO 8601 with a zone)', required: true })
  readUntil(text: string): Date {
    return timeIn(text, '--until');
  }

  override async run([account]: string[], values: CertifyValues): Promise<void> {
    const accountId = idIn(account, 'account');
    const { purposes, endUsers, text: textDigest, by } = values;
    const certification: Certification = {
      purposes,
      ...(endUsers !== undefined && { endUserTypes: endUsers }),
      by,
      textDigest,
      until: values.until.toISOString(),
    };
    const context = await this.consent.given(values, `replace the certified purposes of the account ${accountId}`);
    await this.commands.execute(new CertifyPurposes(accountId, certification, context));
    print({ accountId, ...certification });
  }
}
