import os,time,sys
p=sys.argv[1]
for _ in range(100):
    try: d=os.open(p,os.O_PATH); break
    except OSError as e: last=e; time.sleep(0.05)
else: print("no O_PATH",last); sys.exit()
def tryit(t,flags):
    try: f=os.open(f"/proc/self/fd/{d}",flags); print(t,"OPENED",os.read(f,100))
    except OSError as e: print(t,e)
tryit("before ro",os.O_RDONLY); tryit("before rw",os.O_RDWR)
time.sleep(2.5)
tryit("after ro",os.O_RDONLY); tryit("after rw",os.O_RDWR)
