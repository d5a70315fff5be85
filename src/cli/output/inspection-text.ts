/** Inspected values of routers for people: router and name, then the value as JSON or text. */
import { printable } from '#base/terminal';
import type { InspectionAnswer } from '#contract/schemas';

export function inspectionText({ values }: InspectionAnswer): string {
  return values
    .map(({ routerId, name, value, error }) => {
      const shown = error === undefined ? valueText(value) : `failed: ${printable(error)}`;
      return `${printable(routerId)}  ${printable(name)}\n${shown}\n`;
    })
    .join('\n');
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value.split('\n').map(printable).join('\n');
  return JSON.stringify(value, null, 2).split('\n').map(printable).join('\n');
}
