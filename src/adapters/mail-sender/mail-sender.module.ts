import { Global, type InjectionToken, Module } from '@nestjs/common';
import { MailSettings } from '../../config/mail.js';
import { Log } from '../../platform/observability/log.js';
import { rolePart, type Startable } from '../../platform/roles/role-part.js';
import { MailSender } from '../../ports/mail-sender.js';
import { SmtpMailSender } from './smtp.js';

const NOTICE: InjectionToken<Startable> = Symbol('mail notice');

@Global()
@Module({
  providers: [
    { provide: MailSender, useFactory: (mail: MailSettings) => new SmtpMailSender(mail), inject: [MailSettings] },
    {
      provide: NOTICE,
      useFactory: (mail: MailSettings, log: Log) => ({
        start: () => {
          if (mail.url === null)
            log.info('no mail server is configured (SMTP_URL): the health of webhook endpoints is not mailed');
        },
      }),
      inject: [MailSettings, Log],
    },
    rolePart<Startable>('worker', NOTICE),
  ],
  exports: [MailSender],
})
export class MailSenderModule {}
