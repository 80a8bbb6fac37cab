/** What the log says about a response besides its status. For the operator of the hub, not for the caller. */
import { deniedForm } from '../../src/host/denied-form.ts';
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts';

/** A response of the hub itself may give a reason for the log. */
export type NotedResponse = HttpResponse & { readonly note?: string };

export function noteOf(request: HttpRequest, response: NotedResponse): string | undefined {
  const denied = response.faults?.find(({ code }) => code === 'permission denied');
  return (
    response.note ??
    response.headers['x-burrow-notice'] ??
    (denied && `denied: ${deniedForm(request.body ?? '', denied.position)}`)
  );
}
