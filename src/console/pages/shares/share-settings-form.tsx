/**
 * The form of a share's settings. A change of somebody else's appears in it as long as nothing was typed; afterwards it is
 * refused to be overwritten.
 */
import { Alert, Checkbox } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { ShareAnswer } from '#contract';
import { answerOptions, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { Form } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { useText } from '../../text/language.tsx';
import { FrontendsField, GrantsField, ModeField, TargetField } from './reach-fields.tsx';
import { changesOf, settingsOf, type ShareSettings } from './share-draft.ts';
import { shareSettingsText } from './share-settings-text.ts';

interface ReadShare {
  readonly share: ShareAnswer;
  readonly etag: string | undefined;
}

const FIELDS = ['target', 'shareMode', 'frontendIds', 'grants', 'reserved'];

export function ShareSettingsForm({
  now,
  load,
}: {
  /** The share as it was read last. */
  readonly now: ReadShare;
  readonly load: () => Promise<ReadShare | undefined>;
}): ReactNode {
  const text = useText(shareSettingsText);
  const { may } = useSession();
  const client = useQueryClient();
  const frontdoorId = useFrontdoorId();
  /** What somebody began to change, and what it was based on; undefined: nothing was typed. */
  const [edit, setEdit] = useState<(ReadShare & { readonly draft: ShareSettings }) | undefined>();
  const [isSaved, setSaved] = useState(false);
  const base = edit ?? now;
  const before = settingsOf(base.share);
  const draft = edit?.draft ?? before;
  const changes = changesOf(before, draft);
  const change = useChange('changeShare', {
    refreshes: ['share'],
    onDone: (answer) => {
      const { token } = base.share;
      client.setQueryData(answerOptions('getShare', { parameters: { frontdoorId, token } }).queryKey, answer);
      setEdit(undefined);
      setSaved(true);
    },
  });
  const set = (values: Partial<ShareSettings>) => {
    setSaved(false);
    setEdit({ ...base, draft: { ...draft, ...values } });
  };
  const loadNew = async () => {
    await load();
    setEdit(undefined);
    change.reset();
  };
  const isOtherMode = draft.shareMode !== before.shareMode;
  return (
    <Panel title={text.general}>
      {may('changeShare') ? null : <p>{text.roleTooLow}</p>}
      <Form
        fields={FIELDS}
        error={change.error}
        isPending={change.isPending}
        submit={text.save}
        isDisabled={changes === undefined || !may('changeShare')}
        onStale={() => void loadNew()}
        onSubmit={() => {
          if (changes === undefined) return;
          const { token } = base.share;
          change.mutate({ parameters: { frontdoorId, token }, body: changes, ifMatch: base.etag });
        }}
      >
        <div className="fd-fields">
          <TargetField value={draft.target} onChange={(target) => set({ target })} />
          <ModeField value={draft.shareMode} onChange={(shareMode) => set({ shareMode })} />
          {isOtherMode ? (
            <Alert variant="outline" color="yellow" icon={<Icon name="warning" />} role="alert">
              {draft.shareMode === 'private' ? text.toPrivate : text.toPublic}
            </Alert>
          ) : null}
          {draft.shareMode === 'private' ? (
            <GrantsField
              ownId={base.share.environmentId}
              chosen={draft.grants}
              onChange={(grants) => set({ grants })}
            />
          ) : (
            <FrontendsField chosen={draft.frontendIds} onChange={(frontendIds) => set({ frontendIds })} />
          )}
          {base.share.name === null ? (
            <Checkbox
              label={text.kept}
              description={text.keptHint}
              checked={draft.reserved}
              onChange={({ currentTarget }) => set({ reserved: currentTarget.checked })}
            />
          ) : null}
        </div>
        <p role="status" className="fd-soft">
          {changes !== undefined ? null : isSaved ? text.saved : text.nothingChanged}
        </p>
      </Form>
    </Panel>
  );
}
