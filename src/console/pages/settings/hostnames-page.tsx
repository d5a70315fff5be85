/** The domains that organizations claim, with their proofs, for operators, who grant them. */
import type { ReactNode } from 'react';
import type { HostnameClaimAnswer } from '#contract/schemas';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { DomainProof, PROOFS } from '../domains/domain-proof.tsx';
import { domainsText } from '../domains/domains-text.ts';
import { settingsText } from './settings-text.ts';

export function HostnamesPage(): ReactNode {
  const [text, domains] = [useText(settingsText), useText(domainsText)];
  const proofs = PROOFS.map((value) => ({ value, label: domains.proofs(value) }));
  const filters = [useNameFilter(), { name: 'proof', label: text.nameProof, by: proofs }];
  return (
    <ListPage
      title={text.hostnames}
      intro={<p>{text.hostnamesText}</p>}
      list={useList('listHostnameClaims', {}, { filters, linked: ['organizationId'] })}
      columns={[
        {
          id: 'name',
          title: text.name,
          isName: true,
          sort: 'hostname',
          cell: ({ hostname }) => <span className="fd-mono">{hostname}</span>,
        },
        { id: 'proof', title: text.nameProof, cell: ({ proof }) => <DomainProof proof={proof} /> },
        {
          id: 'organization',
          title: text.organization,
          cell: ({ organizationId }) => <span className="fd-mono">{organizationId}</span>,
        },
        {
          id: 'expires',
          title: text.expires,
          width: 8,
          cell: ({ proofEndsAt }) => (proofEndsAt === null ? null : <TimeAgo at={proofEndsAt} />),
        },
        { id: 'decide', title: '', width: 9, cell: (claim) => <Decide claim={claim} /> },
      ]}
      keyOf={({ id }) => id}
    />
  );
}

/** What an operator can decide about a claim. */
function Decide({ claim: { id, hostname, proof } }: { readonly claim: HostnameClaimAnswer }): ReactNode {
  const text = useText(settingsText);
  if (proof === 'PROVEN') return null;
  const isGranted = proof === 'GRANTED';
  const decision = isGranted ? 'withdrawName' : 'grantName';
  return (
    <ConfirmedAction
      operation={isGranted ? 'withdrawHostname' : 'grantHostname'}
      input={{ parameters: { hostnameClaimId: id } }}
      refreshes={['custom-frontend']}
      label={text[decision]}
      full={`${text[decision]}: ${hostname}`}
      title={text[decision]}
    >
      <p>{text[`${decision}Text`](hostname)}</p>
    </ConfirmedAction>
  );
}
