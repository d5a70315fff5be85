/**
 * `frontdoor why ERROR_ID`: shows why a request failed and what to do next, by the error id on its page. It looks
 * in the frontdoor first; then, for administrators, among failures of hosts without a share.
 */
import { Command } from 'commander';
import { FrontdoorError } from '#base';
import { addApiOptions, frontdoorOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';

interface WhyFlags extends ApiFlags {
  readonly frontdoor?: string;
}

export function whyCommand(io: CliIo): Command {
  const command = new Command('why')
    .argument('<error-id>', 'error ID from the page, or from the header Frontdoor-Error-Id')
    .description('explain why a request failed, and what to do next')
    .addOption(frontdoorOption());
  return addApiOptions(command)
    .addHelpText(
      'after',
      '\nGET {base_url}/frontdoor/{frontdoorId}/failures/{errorId}, requires the scope frontdoor.read\n' +
        'GET {base_url}/failures/{errorId}, requires the scope frontdoor.admin\n\n' +
        'Examples:\n  frontdoor why 9f86d081884c7d659a000001\n  frontdoor why 9f86d081884c7d659a000001 --json\n',
    )
    .action(async (errorId: string) => {
      const flags = command.opts<WhyFlags>();
      await runCommand(io, flags.json === true, async () => {
        const [{ withManagement }, { failureText }, { findReportedFailure }] = await Promise.all([
          import('../access/access.ts'),
          import('../output/failure-text.ts'),
          import('./failure-look-up.ts'),
        ]);
        await withManagement(flags, io, async (client, access) => {
          if (!/^[0-9A-Za-z_-]{1,64}$/.test(errorId))
            throw new FrontdoorError('invalid', 'argument', 'an error ID consists of letters and digits');
          const failure = await findReportedFailure({ client, access }, errorId);
          if (flags.json === true) writeJson(io, failure);
          else io.out(failureText(failure));
        });
      });
    });
}
