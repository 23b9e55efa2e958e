// The credit bureau of the upstream vendor. Only workers call the bureau (`src/external-calls`).
import type { Replied } from '../kernel/vendor-reply.js';
import type { VendorSubject } from '../kernel/vendor-subject.js';
import type { NoVerdict, VendorCall } from './vendor-call.js';

export interface CreditScore {
  readonly value: number;
  readonly model: string;
  readonly min: number;
  readonly max: number;
  /** Texts of the main reasons for the score, most important first. */
  readonly factors: readonly string[];
  /** YYYY-MM-DD. */
  readonly date: string;
}

export interface TradeLine {
  readonly creditor: string;
  /** Such as `REVOLVING`, `INSTALLMENT`, `MORTGAGE`. */
  readonly type: string;
  /** At most the last four digits. */
  readonly account: string;
  /** YYYY-MM-DD. */
  readonly openedOn: string;
  readonly status: string;
  readonly balanceCents: number;
  readonly limitCents: number | null;
  readonly pastDueCents: number;
  /** One letter or digit for each month, newest first. */
  readonly paymentHistory: string;
}

export interface PublicRecord {
  readonly type: string;
  readonly court: string;
  readonly filedOn: string;
  readonly status: string;
  readonly amountCents: number | null;
}

export interface Inquiry {
  readonly subscriber: string;
  readonly date: string;
  readonly purpose: string;
}

export interface BackgroundRecord {
  readonly jurisdiction: string;
  readonly offense: string;
  readonly severity: string;
  readonly date: string;
  readonly disposition: string;
}

export interface HousingCourtRecord {
  readonly court: string;
  readonly caseType: string;
  readonly filedOn: string;
  readonly outcome: string;
  readonly judgmentCents: number | null;
}

/** A statement or an observation in the file. */
export interface FileAlert {
  /** Such as `FRAUD_ALERT`, `ACTIVE_DUTY`, `ADDRESS_MISMATCH`. */
  readonly type: string;
  /** YYYY-MM-DD; absent if the vendor gives none. */
  readonly date?: string | undefined;
}

/** A search of records that the vendor made for this report. */
export interface RecordSearch {
  readonly section: 'publicRecords' | 'background' | 'housingCourt';
  /** The searched area, in the vendor's words. */
  readonly area: string;
  /** YYYY-MM-DD. */
  readonly date: string;
}

/** The vendor's report, unchanged: `report` on the wire. Highly personal: only in memory, encrypted, or in the vault. */
export interface VendorReport {
  readonly consumer: {
    readonly name: string;
    readonly addresses: readonly string[];
    readonly birthYear: number | null;
    /** Absent if the vendor gives none. */
    readonly ssnLastFour?: string | undefined;
  };
  /** Alerts and searches are absent if the vendor gives none. */
  readonly alerts?: readonly FileAlert[] | undefined;
  readonly searches?: readonly RecordSearch[] | undefined;
  readonly tradeLines: readonly TradeLine[];
  readonly publicRecords: readonly PublicRecord[];
  readonly inquiries: readonly Inquiry[];
  /** Null when the report was ordered without background records and court records. */
  readonly background: readonly BackgroundRecord[] | null;
  readonly housingCourt: readonly HousingCourtRecord[] | null;
}

/** The vendor's reasons for giving no report. The reasons are facts about the file, not faults. */
export type ReportRefusal =
  /** The consumer has frozen or locked the file. */
  | 'FILE_FROZEN'
  /** The bureau itself has blocked the file. */
  | 'FILE_BLOCKED'
  | 'NO_RECORD'
  | 'MINOR'
  /** Any other fact about the file, or an objection to the inquiry. */
  | 'FILE_CONDITION';

export type ReportVerdict = Replied &
  /** `score` is null if the file is too thin for a score. */
  (
    | { readonly kind: 'report'; readonly score: CreditScore | null; readonly report: VendorReport }
    /** `upstreamCode` is the vendor's number for the reason. */
    | { readonly kind: 'refused'; readonly reason: ReportRefusal; readonly upstreamCode: number | null }
    /** The vendor is still at work. The same pull is sent again after `lookAgainAfter` seconds or later. */
    | { readonly kind: 'pending'; readonly lookAgainAfter: number }
    /** The vendor's session gives no right to a report any more. */
    | { readonly kind: 'session-over' }
    | NoVerdict
  );

/**
 * Pulls credit reports. One time limit (`VENDOR_TIMEOUT`) covers the whole exchange. A failure is returned as a NoVerdict, never thrown. A pull is
 * billed once for each `attemptId`, even if it is sent several times, and a repeated attempt gets the same report. A caller that does not know the
 * result therefore asks again. Nothing is logged. The `reply` of a report has the sections that readers may exclude in the members `background` and
 * `housingCourt` of its member `report`.
 */
export abstract class CreditBureau {
  /** The person of the subject has the form that the vendor's capability needs. */
  abstract pullReport(call: VendorCall, subject: VendorSubject): Promise<ReportVerdict>;
}
