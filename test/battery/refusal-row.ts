/** A21: refusals on the overlay and at the edge API; its quick form is `test/e2e/overlay-refusals.test.ts`. */
import { checkRefusals } from '../support/overlay-refusals.ts';
import { Tally, type BatteryRow } from './battery-row.ts';

export const REFUSAL_ROW: BatteryRow = {
  id: 'A21',
  title: 'refusals name the proven identity in the log and in the audit trail',
  // Peers of its own at every listener: this row starts its own world.
  run: async () => {
    const tally = new Tally();
    for (const { name, problem } of await checkRefusals())
      tally.check(problem === undefined, name, () => problem ?? '');
    return tally;
  },
};
