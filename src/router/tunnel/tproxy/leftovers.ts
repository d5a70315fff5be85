/** Removes what a router that was killed left on its machine, in whichever mode it ran. */
import { messageOf, type Log } from '#base';
import { LoopbackAddresses } from '../machine/loopback-addresses.ts';
import { findProgram } from '../machine/machine-program.ts';
import type { MachineRecord } from '../machine/machine-record.ts';
import { MarkRoutes, routingTableOf } from './host-network.ts';
import { clearRules } from './host-rules.ts';

/** What cannot be removed is logged and stays in the record, for the next start. */
export async function removeLeftovers(record: MachineRecord, log: Log): Promise<void> {
  for (const id of record.ids) {
    try {
      await clearRules(id);
      const ip = await findProgram('ip');
      if (ip !== undefined) {
        await new MarkRoutes(ip, routingTableOf(id)).clear();
        await new LoopbackAddresses(ip, id).clear();
      }
      await record.delete(id);
      log.info({ id }, 'addresses and rules of an earlier run are removed');
    } catch (error) {
      const fields = { id, file: record.path, err: messageOf(error) };
      log.error(
        fields,
        'addresses and rules of an earlier run could not be removed: that needs CAP_NET_ADMIN',
      );
    }
  }
}
