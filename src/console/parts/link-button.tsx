/** A link to a page that looks like a button. */
import { Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';

type AnchorProps = ButtonProps &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps> & {
    readonly ref?: Ref<HTMLAnchorElement>;
  };

function AnchorButton(props: AnchorProps): ReactNode {
  return <Button component="a" {...props} />;
}

export const LinkButton = createLink(AnchorButton);
