/** The form of a share's settings. */
import { Alert, Checkbox } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ShareAnswer } from '#contract/schemas';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { FrontendsField, GrantsField, IngressFields, ModeField, TargetField } from './reach-fields.tsx';
import { changesOf, settingsOf } from './share-draft.ts';
import { shareSettingsText } from './share-settings-text.ts';

const FIELDS = [
  ...['target', 'shareMode', 'backendMode', 'frontendIds', 'ingress', 'ingressPort'],
  ...['grants', 'reserved'],
];

export function ShareSettingsForm(props: Editable<ShareAnswer>): ReactNode {
  const [text, parts] = [useText(shareSettingsText), useText(partsText)];
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  const edit = useEdit({ ...props, draftOf: settingsOf });
  const { draft, type: set } = edit;
  const { body: share, etag: ifMatch } = edit.base;
  const before = settingsOf(share);
  const changes = changesOf(before, draft);
  const change = useChange('changeShare', { refreshes: ['share'], onDone: edit.saved });
  const isOtherMode = draft.shareMode !== before.shareMode;
  const { token } = share;
  return (
    <Panel title={text.general}>
      {may('changeShare') ? null : <p>{text.roleTooLow}</p>}
      <EditForm
        edit={edit}
        change={change}
        fields={FIELDS}
        submit={parts.save}
        isDisabled={changes === undefined || !may('changeShare')}
        onSubmit={() => {
          if (changes !== undefined)
            change.mutate({ parameters: { frontdoorId, token }, body: changes, ifMatch });
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
              ownId={share.environmentId}
              chosen={draft.grants}
              onChange={(grants) => set({ grants })}
            />
          ) : (
            <FrontendsField chosen={draft.frontendIds} onChange={(frontendIds) => set({ frontendIds })} />
          )}
          <IngressFields draft={draft} set={set} />
          {share.name === null ? (
            <Checkbox
              label={text.kept}
              description={text.keptHint}
              checked={draft.reserved}
              onChange={({ currentTarget }) => set({ reserved: currentTarget.checked })}
            />
          ) : null}
        </div>
        {changes === undefined ? <p className="fd-soft">{text.nothingChanged}</p> : null}
      </EditForm>
    </Panel>
  );
}
