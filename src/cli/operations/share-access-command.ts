/** `frontdoor shares access TOKEN`: prints who has access to a share, as sentences. */
import { Command } from 'commander';
import { printable } from '#base/terminal';
import type { AnswerOf } from '#contract';
import type { ProviderAnswer, ShareAnswer, SharePolicyAnswer } from '#contract/schemas';
import { ACCESS_WORDS, accessSentences, type AccessSentence } from '#contract/access-sentences';
import { provesPeople } from '#domain/provider-types';
import { addApiOptions, frontdoorOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import { showWarnings } from './operation-answer.ts';

const FRONTDOOR = '/frontdoor/{frontdoorId}';
const HELP = `
GET {base_url}${FRONTDOOR}/shares/{token} and its policy, requires the scope frontdoor.read

Each rule of the policy is one sentence. A rule that this version does not know is named.

Examples:
  frontdoor shares access app
  frontdoor shares access app --json
`;

export function shareAccessCommand(io: CliIo): Command {
  const command = new Command('access')
    .argument('<token>', 'the share, for example app')
    .description('show who has access to a share, as sentences')
    .addOption(frontdoorOption());
  addApiOptions(command).addHelpText('after', HELP);
  return command.action(async (token: string) => {
    const flags = command.opts<ApiFlags>();
    await runCommand(io, flags.json === true, () => print(io, flags, token));
  });
}

async function print(io: CliIo, flags: ApiFlags, token: string): Promise<void> {
  const [{ withManagement }, { frontdoorOf }] = await Promise.all([
    import('../access/access.ts'),
    import('./named-id.ts'),
  ]);
  await withManagement(flags, io, async (client, access) => {
    const path = FRONTDOOR.replace('{frontdoorId}', await frontdoorOf({ client, access }));
    const read = (below: string) => client.call({ method: 'GET', path: `${path}${below}` });
    const sharePath = `/shares/${encodeURIComponent(token)}`;
    const share = (await read(sharePath)) as ShareAnswer;
    if (share.shareMode === 'private')
      return show(io, flags, [{ field: 'grants', text: share.access.summary }]);
    const policy = (await read(`${sharePath}/policy`)) as SharePolicyAnswer;
    const used = share.policyId && ((await read(`/policies/${share.policyId}`)) as AnswerOf<'getPolicy'>);
    const providers: ProviderAnswer[] = [];
    for (const id of share.authProviderIds)
      providers.push((await read(`/auth-providers/${encodeURIComponent(id)}`)) as ProviderAnswer);
    showWarnings(io, policy);
    const sentences = sentencesOf(policy, providers);
    if (used) sentences.unshift({ field: 'policyId', text: `Rules of the policy ${used.name}:` });
    show(io, flags, sentences);
  });
}

function sentencesOf(policy: SharePolicyAnswer, providers: readonly ProviderAnswer[]): AccessSentence[] {
  const named = providers.map(({ name, enabled, type }) => ({ name, enabled, hasKeys: !provesPeople(type) }));
  return accessSentences(policy, named, ACCESS_WORDS, {
    nowMs: Date.now(),
    date: (atMs) => `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    number: (value) => value.toLocaleString('en'),
  });
}

function show(io: CliIo, flags: ApiFlags, sentences: readonly AccessSentence[]): void {
  if (flags.json === true) writeJson(io, { sentences });
  else for (const { text } of sentences) io.out(`${printable(text)}\n`);
}
