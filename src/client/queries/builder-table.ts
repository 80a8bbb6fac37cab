/**
 * Every builder that only puts its arguments under keys. One row per builder: its name, then one word per argument.
 * The first key is the name in snake case unless the row names it (`IsNonEmpty=is_nonempty`).
 *
 * | mark on a word | the argument |
 * |---|---|
 * | none | must be there |
 * | `?` | is left out when absent or null |
 * | `~` | is left out when absent |
 * | `!` | is null when absent |
 * | `-` | does not exist: the key is null |
 * | `*` | is all that remain: alone bare, else as an array |
 *
 * `%` after the name: the first two arguments come in the other order. `+`: surplus arguments are ignored.
 */
const ROWS = `Abort,At expr,Var,If then else,Call arguments*,Query,Map% collection,Foreach% collection,
Filter% collection,Take collection,Drop collection,Prepend collection,Append collection,IsEmpty,
IsNonEmpty=is_nonempty,IsNumber,IsDouble,IsInteger,IsBoolean,IsNull,IsBytes,IsTimestamp,IsDate,
IsString,IsArray,IsObject,IsRef,IsSet,IsDoc,IsLambda,IsCollection,IsDatabase,IsIndex,IsFunction,
IsKey,IsToken,IsCredentials,IsRole,Get ts?,KeyFromSecret,Reduce initial collection,Exists ts?,
Create params~,Update params,Replace params,Delete,Insert ts action params,Remove ts action,
CreateClass,CreateCollection,CreateDatabase,CreateIndex,CreateKey,CreateFunction,CreateRole,
CreateAccessProvider,Singleton,Events,Match terms*,Union*,Merge with lambda?,Intersection*,
Difference*,Distinct,Join with,Range from to,Login params,Logout,Identify password,Identity-,
CurrentIdentity-,HasIdentity-,HasCurrentIdentity-,CurrentToken-,HasCurrentToken-,
Concat+ separator?,Casefold+ normalizer?,ContainsStr=containsstr search,
ContainsStrRegex=containsstrregex pattern,StartsWith=startswith search,EndsWith=endswith search,
FindStr=findstr find start?,FindStrRegex=findstrregex pattern start? num_results?,Length,
LowerCase=lowercase,LTrim,NGram min? max?,Repeat number?,ReplaceStr=replacestr find replace,
ReplaceStrRegex=replacestrregex pattern replace first?,RegexEscape=regexescape,RTrim,Space,
SubString=substring start? length?,TitleCase=titlecase,Trim,UpperCase=uppercase,Format values*,Time,
TimeAdd offset unit,TimeSubtract offset unit,TimeDiff other unit,Epoch unit,Date,Now-,NextId-,
NewId-,Database scope~,Index scope~,Class scope~,Collection scope~,Function scope~,Role scope?,
AccessProviders!,Classes!,Collections!,Databases!,Indexes!,Functions!,Roles!,Keys!,Tokens!,
Credentials!,Equals*,Contains in,ContainsPath in,ContainsField in,ContainsValue in,
Select from default~,SelectAll from,Abs,Add*,BitAnd=bitand*,BitNot=bitnot,BitOr=bitor*,
BitXor=bitxor*,Ceil,Divide*,Floor,Max*,Min*,Modulo*,Multiply*,Round+ precision?,Subtract*,Sign,Sqrt,
Trunc+ precision?,Count,Sum,Mean,Any,All,Acos,Asin,Atan,Cos,Cosh,Degrees,Exp,Hypot+ b?,Ln,Log,
Pow+ exp?,Radians,Sin,Sinh,Tan,Tanh,LT*,LTE*,GT*,GTE*,And*,Or*,Not,ToString,ToNumber,ToObject,
ToArray,ToDouble,ToInteger,ToTime,ToSeconds,ToMillis,ToMicros,DayOfMonth,DayOfWeek,DayOfYear,Second,
Minute,Hour,Month,Year,ToDate,MoveDatabase to,Documents,Reverse,AccessProvider`;

export type Mark = '' | '?' | '~' | '!' | '-' | '*';

export interface BuilderRow {
  readonly name: string;
  /** In wire order. */
  readonly keys: readonly { readonly key: string; readonly mark: Mark }[];
  readonly swapped: boolean;
  readonly min: number;
  readonly max: number;
}

const ROW = /^(\w+?)(?:=(\w+))?([%+]?)([?~!*-]?)$/;

const rowOf = (text: string): BuilderRow => {
  const [head = '', ...rest] = text.split(' ');
  const [, name = '', named, order, mark = ''] = ROW.exec(head) ?? [];
  const first = named ?? name.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();
  const keys = [first + mark, ...rest].map((word) => {
    const [, key = '', mark = ''] = /^(\w+)(.?)$/.exec(word) ?? [];
    return { key, mark: mark as Mark };
  });
  const required = keys.filter(({ mark }) => mark === '').length;
  const any = order === '+' || keys.some(({ mark }) => mark === '*');
  return {
    name,
    keys,
    swapped: order === '%',
    min: mark === '*' ? 1 : required,
    max: any ? Infinity : mark === '-' ? 0 : keys.length,
  };
};

export const BUILDER_ROWS: readonly BuilderRow[] = ROWS.split(/,\s*/).map(rowOf);
