/** The domains that organizations claim, with their proofs, for operators, who grant them. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { HostnameClaimAnswer } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useSearchState } from '../../parts/search-state.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { domainsText } from '../domains/domains-text.ts';
import { DomainProof, PROOFS } from '../domains/domain-proof.tsx';
import { settingsText } from './settings-text.ts';

type Decision = 'grantName' | 'withdrawName';

export function HostnamesPage(): ReactNode {
  const [text, parts, domains] = [useText(settingsText), useText(partsText), useText(domainsText)];
  const control = useSearchState();
  const [chosen, setChosen] = useState<HostnameClaimAnswer | undefined>();
  const { page, sort } = control.search;
  const list = useAnswer('listHostnameClaims', {
    query: {
      ...{ name: control.textOf('name'), organizationId: control.textOf('organizationId') },
      ...{ proof: control.textOf('proof'), sort, page: page ?? 0, size: PAGE_SIZE },
    },
  });
  return (
    <>
      <PageTitle title={text.hostnames} />
      <p>{text.hostnamesText}</p>
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="name" label={parts.filterText} />
          <ChoiceFilter
            control={control}
            name="proof"
            label={text.nameProof}
            choices={PROOFS.map((proof) => ({ value: proof, label: domains.proofs(proof) }))}
          />
        </Filters>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.hostnames}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: text.name,
                  sort: 'hostname',
                  cell: ({ hostname }) => <span className="fd-mono">{hostname}</span>,
                },
                { title: text.nameProof, cell: ({ proof }) => <DomainProof proof={proof} /> },
                {
                  title: text.organization,
                  cell: ({ organizationId }) => <span className="fd-mono">{organizationId}</span>,
                },
                {
                  title: text.expires,
                  cell: ({ proofEndsAt }) => (proofEndsAt === null ? null : <TimeAgo at={proofEndsAt} />),
                },
                { title: '', cell: (claim) => <Decide claim={claim} onChosen={setChosen} /> },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {chosen === undefined ? null : <Confirm claim={chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}

/** What an operator can decide about a claim. */
function decisionOf({ proof }: HostnameClaimAnswer): Decision {
  return proof === 'GRANTED' || proof === 'ASKED' ? 'withdrawName' : 'grantName';
}

function Decide({
  claim,
  onChosen,
}: {
  readonly claim: HostnameClaimAnswer;
  readonly onChosen: (claim: HostnameClaimAnswer) => void;
}): ReactNode {
  const text = useText(settingsText);
  if (claim.proof === 'PROVEN') return null;
  const label = text[decisionOf(claim)];
  return (
    <Button
      size="compact-sm"
      variant="default"
      onClick={() => onChosen(claim)}
      aria-label={`${label}: ${claim.hostname}`}
    >
      {label}
    </Button>
  );
}

function Confirm({
  claim,
  onClose,
}: {
  readonly claim: HostnameClaimAnswer;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(settingsText);
  const refreshes = ['custom-frontend'] as const;
  const grant = useChange('grantHostname', { refreshes, onDone: onClose });
  const withdraw = useChange('withdrawHostname', { refreshes, onDone: onClose });
  const decision = decisionOf(claim);
  const { mutate, error, isPending } = decision === 'grantName' ? grant : withdraw;
  return (
    <ConfirmDialog
      title={text[decision]}
      isOpen
      onClose={onClose}
      action={text[decision]}
      error={error}
      isPending={isPending}
      onConfirm={() => mutate({ parameters: { customFrontendId: claim.id } })}
    >
      <p>{text[`${decision}Text`](claim.hostname)}</p>
    </ConfirmDialog>
  );
}
