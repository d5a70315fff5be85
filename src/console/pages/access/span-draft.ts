/** A length of time as a person types it, and as the API has it (ISO 8601). Pure. */

export const SPAN_UNITS = ['S', 'M', 'H', 'D'] as const;
export type SpanUnit = (typeof SPAN_UNITS)[number];

export interface SpanDraft {
  readonly amount: string;
  readonly unit: SpanUnit;
}

const SECONDS: Readonly<Record<SpanUnit, number>> = { S: 1, M: 60, H: 3_600, D: 86_400 };
const SPAN = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/;
const WEEK_DAYS = 7;

/** In the largest unit in which it is a whole number. */
export function spanDraftOf(span: string): SpanDraft {
  const [, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = SPAN.exec(span) ?? [];
  const total =
    (Number(weeks) * WEEK_DAYS + Number(days)) * SECONDS.D +
    Number(hours) * SECONDS.H +
    Number(minutes) * SECONDS.M +
    Number(seconds);
  const unit = [...SPAN_UNITS].reverse().find((one) => total % SECONDS[one] === 0) ?? 'S';
  return { amount: String(total / SECONDS[unit]), unit };
}

/** Other text is sent, too, so that the API names the field. */
export function spanOf({ amount, unit }: SpanDraft): string {
  const number = amount.trim();
  return unit === 'D' ? `P${number}D` : `PT${number}${unit}`;
}
