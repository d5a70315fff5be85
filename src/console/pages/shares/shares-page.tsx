/** The shares of a frontdoor. */
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { ShareAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { EmptyCommand } from '../../parts/empty-command.tsx';
import { namedChoices, useNameFilter, type PageFilter } from '../../parts/filters.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { EmptyList, ListPage } from '../../parts/list-page.tsx';
import type { RowAction } from '../../parts/row-menu.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { usePolicies } from '../access/policy-choice.tsx';
import { useListedAgents } from '../agents/agent-name.tsx';
import {
  nameOf,
  SHARE_CHANGE_OPERATIONS,
  SHARE_CHANGES,
  ShareBulkDialog,
  type ListedShareChange,
} from './share-bulk.tsx';
import { shareBulkText } from './share-bulk-text.ts';
import { useShareColumns } from './share-columns.tsx';
import { useListedProviders } from './share-names.tsx';
import { sharesText } from './shares-text.ts';

/** No event reports traffic. */
const REFETCH_MS = 30_000;

export function SharesPage(): ReactNode {
  const text = useText(sharesText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  const [change, setChange] = useState<BegunChange | undefined>();
  const menuOf = useShareMenu((kind, row) => setChange({ kind, rows: [row], clear: () => undefined }));
  const list = useList('listShares', { parameters: { frontdoorId } }, { filters: useFilters() });
  // In one order, so that another order of the same rows asks for nothing.
  const tokens = list.answer.data?.body.content.map(({ token }) => token).toSorted();
  const lines = useAnswer(
    'getShareSparklines',
    { parameters: { frontdoorId }, query: { tokens: tokens?.join(',') } },
    { refetchMs: REFETCH_MS, enabled: tokens !== undefined && tokens.length > 0 },
  );
  const canChange = SHARE_CHANGES.some((kind) => may(SHARE_CHANGE_OPERATIONS[kind]));
  return (
    <ListPage
      title={text.shares}
      label={text.list}
      actions={<CreateButton />}
      list={list}
      columns={useShareColumns(frontdoorId, lines.data?.body.sparklines)}
      keyOf={({ token }) => token}
      nameOf={nameOf}
      menuOf={menuOf}
      bulk={
        canChange
          ? (rows, clear) => <ChangeButtons onBegin={(kind) => setChange({ kind, rows, clear })} />
          : undefined
      }
      empty={
        <EmptyList title={text.noShares} text={text.noSharesText}>
          {may('createShare') ? (
            <>
              <CreateButton />
              <EmptyCommand kind="share" />
            </>
          ) : (
            <p>{text.askToCreate}</p>
          )}
        </EmptyList>
      }
    >
      {change === undefined ? null : (
        <ShareBulkDialog
          kind={change.kind}
          rows={change.rows}
          onChanged={change.clear}
          onClose={() => setChange(undefined)}
        />
      )}
    </ListPage>
  );
}

interface BegunChange {
  readonly kind: ListedShareChange;
  readonly rows: readonly ShareAnswer[];
  /** Ends the selection that the change was about. */
  readonly clear: () => void;
}

function ChangeButtons({ onBegin }: { readonly onBegin: (kind: ListedShareChange) => void }): ReactNode {
  const text = useText(shareBulkText);
  const { may } = useSession();
  return SHARE_CHANGES.map((kind) => (
    <Button
      key={kind}
      size="compact-sm"
      variant="default"
      disabled={!may(SHARE_CHANGE_OPERATIONS[kind])}
      onClick={() => onBegin(kind)}
      {...(kind === 'delete' ? { className: 'fd-danger' } : {})}
    >
      {text.actions(kind)}
    </Button>
  ));
}

/** The pages of the share, and what its selection has, but for what takes its own page. */
function useShareMenu(
  begin: (kind: ListedShareChange, row: ShareAnswer) => void,
): (row: ShareAnswer) => readonly RowAction[] {
  const text = useText(shareBulkText);
  const { may } = useSession();
  const navigate = useNavigate();
  const frontdoorId = useFrontdoorId();
  return (row) => {
    const params = { frontdoorId, token: row.token };
    const change = (kind: ListedShareChange, isDanger = false): RowAction => ({
      label: text.actions(kind),
      isDanger,
      isDisabled: !may(SHARE_CHANGE_OPERATIONS[kind]),
      onSelect: () => begin(kind, row),
    });
    const base = '/frontdoors/$frontdoorId/shares/$token';
    return [
      { label: text.accessSettings, onSelect: () => void navigate({ to: `${base}/access`, params }) },
      { label: text.requests, onSelect: () => void navigate({ to: `${base}/requests`, params }) },
      { label: text.settings, onSelect: () => void navigate({ to: `${base}/settings`, params }) },
      change(row.access.admits === 'nobody' ? 'enable' : 'disable'),
      change('policy'),
      change('record'),
      change('delete', true),
    ];
  };
}

function useFilters(): readonly PageFilter[] {
  const text = useText(sharesText);
  const agents = useListedAgents().data?.body.content;
  const providers = useListedProviders().data?.body.content;
  const policies = usePolicies().data?.body.content;
  const states = ['DEPLOYED', 'FAILED', 'PENDING'].map((value) => ({ value, label: text.state(value) }));
  return [
    useNameFilter(),
    { name: 'status', label: text.status, by: states },
    { name: 'environmentId', label: text.agent, by: namedChoices(agents) },
    { name: 'providerId', label: text.provider, by: namedChoices(providers) },
    { name: 'policyId', label: text.policy, by: namedChoices(policies) },
  ];
}

function CreateButton(): ReactNode {
  const text = useText(sharesText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  if (!may('createShare')) return null;
  return (
    <LinkButton to="/frontdoors/$frontdoorId/shares/new" params={{ frontdoorId }}>
      {text.create}
    </LinkButton>
  );
}
