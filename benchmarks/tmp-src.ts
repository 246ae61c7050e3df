import { createRedactor } from '@hansard/redaction';
import { works, here, writeSomeTranscript } from './redaction-works.ts';
import { rmSync, mkdirSync } from 'node:fs';
const [step='run', rounds='15'] = process.argv.slice(2);
mkdirSync('/tmp/w/tp',{recursive:true});
const t='/tmp/w/tp/session.jsonl'; writeSomeTranscript(t, 6e6);
const real=createRedactor();
const idle={...real, event:(e:any)=>e};
const vs:any=process.env.NOIDLE?{off:null,on:real}:{off:null,idle,on:real}; const names=Object.keys(vs);
const cpu:any={},wall:any={}; for(const n of names){cpu[n]=[];wall[n]=[];}
for(let r=0;r<=Number(rounds);r++) for(let i=0;i<names.length;i++){ const v=names[(i+r)%names.length]!;
  const folder=`/tmp/w/tp/${r}-${v}`;
  const m=await works[step]!({root:here,transcript:t,folder,redactor:vs[v]});
  const b=process.cpuUsage(), w=performance.now(); await m(); const {user,system}=process.cpuUsage(b); const ww=performance.now()-w;
  if(r>0){cpu[v]!.push((user+system)/1e3); wall[v]!.push(ww);}
  rmSync(folder,{recursive:true,force:true});
}
const med=(a:number[])=>[...a].sort((x,y)=>x-y)[a.length>>1]!;
if(process.env.SHOW) for(const n of names) console.log(n,cpu[n].map((x:number)=>x.toFixed(0)).join(" "),"| wall",wall[n].map((x:number)=>x.toFixed(0)).join(" "));
console.log(step,names.map(n=>`${n} ${med(cpu[n]).toFixed(1)} (${(med(cpu[n])/med(cpu.off)).toFixed(3)}) wall ${med(wall[n]).toFixed(1)} (${(med(wall[n])/med(wall.off)).toFixed(3)})`).join('  '));
