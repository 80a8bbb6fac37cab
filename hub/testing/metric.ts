interface MeasuredHub {
  readonly url: string;
  /** Not needed if anyone may read the metrics. */
  readonly secret?: string;
}

/** The value of a metric, as the hub reports it. @param name a regular expression, without `burrow_` */
export async function metric({ url, secret }: MeasuredHub, name: string): Promise<number> {
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  return Number(new RegExp(`^burrow_${name} (\\d+)`, 'm').exec(text)?.[1]);
}
