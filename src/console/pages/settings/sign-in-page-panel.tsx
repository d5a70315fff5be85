/** The name and the logo on the sign-in pages of an organization. */
import { Button, FileButton, Group, Input } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { logoOf } from './logo-file.ts';
import { signInPageText } from './sign-in-page-text.ts';

interface OfOrganization {
  readonly organizationId: string;
}

export function SignInPagePanel({ organizationId }: OfOrganization): ReactNode {
  const text = useText(signInPageText);
  const answer = useAnswer('getSignInPage', { parameters: { organizationId } });
  return (
    <Panel title={text.title}>
      <p className="fd-soft">{text.intro}</p>
      <AnswerView answer={answer}>
        {(now) => <SignInPageForm organizationId={organizationId} now={now} reload={reloadOf(answer)} />}
      </AnswerView>
    </Panel>
  );
}

function SignInPageForm({
  organizationId,
  now,
  reload,
}: Editable<AnswerOf<'getSignInPage'>> & OfOrganization): ReactNode {
  const text = useText(signInPageText);
  const edit = useEdit({ now, reload, draftOf: ({ title, logo }) => ({ title: title ?? '', logo }) });
  const change = useChange('replaceSignInPage', { refreshes: ['organization'], onDone: edit.saved });
  const { title, logo } = edit.draft;
  return (
    <EditForm
      edit={edit}
      change={change}
      fields={['title', 'logo']}
      submit={text.save}
      onSubmit={() =>
        change.mutate({
          parameters: { organizationId },
          body: { title: title.trim() === '' ? null : title, logo },
          ifMatch: edit.base.etag,
        })
      }
    >
      <TextField
        name="title"
        label={text.name}
        description={text.nameHelp}
        value={title}
        onChange={(typed) => edit.type({ title: typed })}
      />
      <LogoField value={logo} onChange={(chosen) => edit.type({ logo: chosen })} />
    </EditForm>
  );
}

/** The browser draws a file of the person's machine, so that only its picture is sent. */
function LogoField(props: {
  readonly value: string | null;
  readonly onChange: (logo: string | null) => void;
}): ReactNode {
  const text = useText(signInPageText);
  const { value, onChange } = props;
  const refused = useFieldError('logo');
  const [isUnreadable, setUnreadable] = useState(false);
  const choose = async (file: File | null) => {
    if (file === null) return;
    const logo = await logoOf(file);
    setUnreadable(logo === undefined);
    if (logo !== undefined) onChange(logo);
  };
  return (
    <Input.Wrapper
      labelElement="div"
      label={text.logo}
      description={text.logoHelp}
      error={isUnreadable ? text.logoUnreadable : refused}
    >
      {value === null ? null : (
        <div className="fd-logo">
          <img src={`data:image/png;base64,${value}`} alt={text.logoShown} />
        </div>
      )}
      <Group gap="xs" mt="xs">
        <FileButton
          onChange={(file) => void choose(file)}
          accept="image/png,image/jpeg,image/webp,image/svg+xml"
        >
          {(button) => (
            <Button variant="default" size="xs" {...button}>
              {value === null ? text.chooseLogo : text.otherLogo}
            </Button>
          )}
        </FileButton>
        {value === null ? null : (
          <Button variant="default" size="xs" onClick={() => onChange(null)}>
            {text.removeLogo}
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  );
}
