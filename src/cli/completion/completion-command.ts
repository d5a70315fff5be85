/**
 * `frontdoor completion bash|zsh|fish`: prints a script that completes every command and option, generated from
 * the commands.
 */
import { Command } from 'commander';
import { runCommand, type CliIo } from '../cli-io.ts';

const INSTALL: Readonly<Record<string, string>> = {
  bash: 'source <(frontdoor completion bash)                                   in ~/.bashrc',
  zsh: 'source <(frontdoor completion zsh)                                    in ~/.zshrc, after compinit',
  fish: 'frontdoor completion fish > ~/.config/fish/completions/frontdoor.fish',
};

/** `build` builds the whole program with every command. */
export function completionCommand(io: CliIo, build: () => Promise<Command>): Command {
  const command = new Command('completion').description('print a completion script for a shell');
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    command
      .command(shell)
      .description(`for ${shell}`)
      .addHelpText('after', `\nExamples:\n  ${INSTALL[shell]}\n`)
      .action(async () => {
        await runCommand(io, false, async () => {
          const [{ completionTree }, scripts] = await Promise.all([
            import('./completion-tree.ts'),
            import('./completion-scripts.ts'),
          ]);
          io.out(scripts.completionScript(shell, completionTree(await build())));
        });
      });
  }
  return command;
}
