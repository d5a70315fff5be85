/** Changes of several shares at once, from the selection of their list, and of one from the menu of its row. */
import { NativeSelect } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import type { ShareAnswer } from '#contract/schemas';
import type { Api } from '../../api/call.ts';
import { useProgram } from '../../api/program.tsx';
import { refreshKind } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { BulkDialog, type BulkChange } from '../../parts/bulk-dialog.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { usePolicies } from '../access/policy-choice.tsx';
import { shareBulkText } from './share-bulk-text.ts';
import { useListedProviders } from './share-names.tsx';

export const SHARE_CHANGES = ['enable', 'disable', 'provider', 'policy', 'record', 'delete'] as const;
export type ListedShareChange = (typeof SHARE_CHANGES)[number];

/** The operation that carries a change out, which the role has to permit. */
export const SHARE_CHANGE_OPERATIONS = {
  enable: 'replaceSharePolicy',
  disable: 'replaceSharePolicy',
  provider: 'changeShare',
  policy: 'changeShare',
  record: 'setInspector',
  delete: 'deleteShare',
} as const;

export interface ShareBulkProps {
  readonly rows: readonly ShareAnswer[];
  readonly onChanged: (rows: readonly ShareAnswer[]) => void;
  readonly onClose: () => void;
}

export function ShareBulkDialog({
  kind,
  ...props
}: ShareBulkProps & { readonly kind: ListedShareChange }): ReactNode {
  if (kind === 'provider') return <AssignProvider {...props} />;
  if (kind === 'policy') return <AssignPolicy {...props} />;
  if (kind === 'record') return <RecordRequests {...props} />;
  if (kind === 'delete') return <DeleteShares {...props} />;
  return <SwitchShares {...props} kind={kind} />;
}

/** What all of them have. */
function ShareDialog<Read>(
  props: ShareBulkProps &
    BulkChange<ShareAnswer, Read> & {
      readonly kind: ListedShareChange;
      readonly typed?: string;
      readonly isReady?: boolean;
      readonly children: ReactNode;
    },
): ReactNode {
  const [text, format] = [useText(shareBulkText), useFormat()];
  const client = useQueryClient();
  const { rows, kind, onChanged, ...dialog } = props;
  const [first] = rows;
  const shares =
    first !== undefined && rows.length === 1 ? nameOf(first) : text.shares(format.number(rows.length));
  return (
    <BulkDialog
      {...dialog}
      title={text.titles(kind, shares)}
      action={text.actions(kind)}
      rows={rows}
      keyOf={({ token }) => token}
      nameOf={nameOf}
      onChanged={(done) => {
        refreshKind(client, 'share');
        onChanged(done);
      }}
    />
  );
}

export function nameOf({ name, token }: ShareAnswer): string {
  return name ?? token;
}

function useShareCalls(): { readonly api: Api; of(share: ShareAnswer): ShareParameters } {
  const { api } = useProgram();
  const frontdoorId = useFrontdoorId();
  return { api, of: ({ token }) => ({ frontdoorId, token }) };
}

interface ShareParameters {
  readonly frontdoorId: string;
  readonly token: string;
}

/** A share that is disabled is one whose access has ended. */
function SwitchShares(props: ShareBulkProps & { readonly kind: 'enable' | 'disable' }): ReactNode {
  const text = useText(shareBulkText);
  const { api, of } = useShareCalls();
  const { kind } = props;
  return (
    <ShareDialog
      {...props}
      read={(share) => {
        if (share.shareMode === 'private') throw new Error(text.privateShare);
        return api.call('getSharePolicy', { parameters: of(share) });
      }}
      change={async (share, { body: { warnings: _about, ...policy }, etag }) => {
        const nowMs = api.clock.nowMs();
        const isOver = policy.expiresAt !== null && Date.parse(policy.expiresAt) <= nowMs;
        if (kind === 'enable' && !isOver && share.access.admits === 'nobody')
          throw new Error(text.notDisabled);
        if (isOver === (kind === 'disable')) return;
        const expiresAt = kind === 'disable' ? new Date(nowMs).toISOString() : null;
        const body = { ...policy, expiresAt };
        await api.call('replaceSharePolicy', { parameters: of(share), body, ifMatch: etag });
      }}
    >
      <p>{kind === 'disable' ? text.disableText : text.enableText}</p>
    </ShareDialog>
  );
}

function AssignProvider(props: ShareBulkProps): ReactNode {
  const text = useText(shareBulkText);
  const { api, of } = useShareCalls();
  const providers = useListedProviders().data?.body.content ?? [];
  const [id, setId] = useState('');
  return (
    <ShareDialog
      {...props}
      kind="provider"
      isReady={id !== ''}
      read={(share) => api.call('getShare', { parameters: of(share) })}
      change={async (share, { body: { authProviderIds }, etag }) => {
        if (authProviderIds.includes(id)) return;
        const body = { authProviderIds: [...authProviderIds, id] };
        await api.call('changeShare', { parameters: of(share), body, ifMatch: etag });
      }}
    >
      <p>{text.providerText}</p>
      <NativeSelect
        label={text.provider}
        value={id}
        onChange={({ currentTarget }) => setId(currentTarget.value)}
        data={[
          { value: '', label: '–' },
          ...providers.map((provider) => ({ value: provider.id, label: provider.name })),
        ]}
      />
    </ShareDialog>
  );
}

/** The choice that gives shares rules of their own. */
const OWN = 'own';

/** `policy`: the one to assign; by default someone chooses it. A share that gives up its policy keeps the rules. */
export function AssignPolicy({
  policy,
  ...props
}: ShareBulkProps & { readonly policy?: Pick<AnswerOf<'getPolicy'>, 'id' | 'name'> }): ReactNode {
  const text = useText(shareBulkText);
  const { api, of } = useShareCalls();
  const policies = usePolicies().data?.body.content ?? [];
  const [chosen, setChosen] = useState(policy?.id ?? '');
  const policyId = chosen === OWN ? null : chosen;
  return (
    <ShareDialog
      {...props}
      kind="policy"
      isReady={chosen !== ''}
      read={async (share) => {
        if (share.shareMode === 'private') throw new Error(text.privatePolicy);
        return api.call('getShare', { parameters: of(share) });
      }}
      change={async (share, { body, etag }) => {
        if (body.policyId === policyId) return;
        await api.call('changeShare', { parameters: of(share), body: { policyId }, ifMatch: etag });
      }}
    >
      <p>{chosen === OWN ? text.ownText : text.policyText}</p>
      {policy === undefined ? (
        <NativeSelect
          label={text.policy}
          value={chosen}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
          data={[
            { value: '', label: '–' },
            ...policies.map(({ id, name }) => ({ value: id, label: name })),
            { value: OWN, label: text.ownRules },
          ]}
        />
      ) : null}
    </ShareDialog>
  );
}

const MINUTE_MS = 60_000;
const MINUTES = [15, 60, 480, 1_440] as const;

function RecordRequests(props: ShareBulkProps): ReactNode {
  const [text, format] = [useText(shareBulkText), useFormat()];
  const { api, of } = useShareCalls();
  const [minutes, setMinutes] = useState<number>(60);
  return (
    <ShareDialog
      {...props}
      kind="record"
      read={(share) => api.call('getInspector', { parameters: of(share) })}
      change={(share, { etag }) => {
        // The API refuses an end that is more than a day ahead.
        const until = new Date(api.clock.nowMs() + minutes * MINUTE_MS - 1_000).toISOString();
        return api.call('setInspector', {
          parameters: of(share),
          body: { enabled: true, until },
          ifMatch: etag,
        });
      }}
    >
      <p>{text.recordText}</p>
      <NativeSelect
        label={text.howLong}
        value={String(minutes)}
        onChange={({ currentTarget }) => setMinutes(Number(currentTarget.value))}
        data={MINUTES.map((count) => ({
          value: String(count),
          label: format.duration(count * MINUTE_MS),
        }))}
      />
    </ShareDialog>
  );
}

function DeleteShares(props: ShareBulkProps): ReactNode {
  const [text, format] = [useText(shareBulkText), useFormat()];
  const { api, of } = useShareCalls();
  const [first] = props.rows;
  const isOne = first !== undefined && props.rows.length === 1;
  return (
    <ShareDialog
      {...props}
      kind="delete"
      typed={isOne ? nameOf(first) : format.number(props.rows.length)}
      read={(share) => api.call('getShare', { parameters: of(share) })}
      change={(share, { etag }) => api.call('deleteShare', { parameters: of(share), ifMatch: etag })}
    >
      <p>{text.deleteText}</p>
    </ShareDialog>
  );
}
