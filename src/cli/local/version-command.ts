/** `frontdoor version`: what a report of a defect needs. `--version` prints one line. */
import { Command } from 'commander';
import { parseVersionText } from '#domain/versions';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import { recordText } from '../output/record-text.ts';

export interface BuildFacts {
  /** Undefined for an installation without a repository whose package does not name one. */
  readonly commit: string | undefined;
  /** The day of the commit; undefined where only git knows it, and is not installed. */
  readonly date: string | undefined;
  /** Whether the files come from a package, and else whether the bundle of the clone is current. */
  readonly programs: 'package' | 'bundle of this clone' | 'sources of this clone';
}

export interface VersionRunner {
  buildFacts(): Promise<BuildFacts>;
}

export function versionCommand(io: CliIo, version: string, run: VersionRunner): Command {
  return new Command('version')
    .description('show the version, the commit and the runtime of this program')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  frontdoor version\n  frontdoor version --json\n')
    .action(async (flags: { readonly json?: boolean }) => {
      await runCommand(io, flags.json === true, async () => {
        const { commit, date, programs } = await run.buildFacts();
        const { node, openssl } = process.versions;
        const facts = {
          version: parseVersionText(version).version,
          commit: commit ?? null,
          date: date ?? null,
          runtime: `Node ${node} (${process.platform} ${process.arch}, OpenSSL ${openssl ?? 'unknown'})`,
          programs,
        };
        if (flags.json === true) writeJson(io, facts);
        else io.out(recordText(facts));
      });
    });
}
