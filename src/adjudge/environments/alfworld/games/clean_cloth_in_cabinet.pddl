; A bathroom: the cloth lies in the basin, the cabinets are closed.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem clean_cloth_in_cabinet)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 loc_5 - location
    countertop_bar_1 sink_bar_1_bar_basin cabinet_bar_2 cabinet_bar_1 garbagecan_bar_1 - receptacle
    soapbar_bar_1 cloth_bar_1 toiletpaper_bar_1 handtowel_bar_1 - object
    CabinetType CounterTopType FridgeType GarbageCanType MicrowaveType SinkBasinType - rtype
    ButterKnifeType ClothType HandTowelType KnifeType SoapBarType ToiletPaperType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation countertop_bar_1 loc_1) (receptacleType countertop_bar_1 CounterTopType)
    (receptacleAtLocation sink_bar_1_bar_basin loc_2) (receptacleType sink_bar_1_bar_basin SinkBasinType)
    (receptacleAtLocation cabinet_bar_2 loc_3) (receptacleType cabinet_bar_2 CabinetType) (openable cabinet_bar_2)
    (receptacleAtLocation cabinet_bar_1 loc_4) (receptacleType cabinet_bar_1 CabinetType) (openable cabinet_bar_1)
    (receptacleAtLocation garbagecan_bar_1 loc_5) (receptacleType garbagecan_bar_1 GarbageCanType)
    (inReceptacle soapbar_bar_1 countertop_bar_1) (objectAtLocation soapbar_bar_1 loc_1) (objectType soapbar_bar_1 SoapBarType) (pickupable soapbar_bar_1)
    (inReceptacle cloth_bar_1 sink_bar_1_bar_basin) (objectAtLocation cloth_bar_1 loc_2) (objectType cloth_bar_1 ClothType) (pickupable cloth_bar_1) (cleanable cloth_bar_1)
    (inReceptacle toiletpaper_bar_1 cabinet_bar_2) (objectAtLocation toiletpaper_bar_1 loc_3) (objectType toiletpaper_bar_1 ToiletPaperType) (pickupable toiletpaper_bar_1)
    (inReceptacle handtowel_bar_1 garbagecan_bar_1) (objectAtLocation handtowel_bar_1 loc_5) (objectType handtowel_bar_1 HandTowelType) (pickupable handtowel_bar_1)
    (canContain CabinetType ClothType) (canContain CabinetType HandTowelType) (canContain CabinetType SoapBarType) (canContain CabinetType ToiletPaperType)
    (canContain CounterTopType ClothType) (canContain CounterTopType HandTowelType) (canContain CounterTopType SoapBarType) (canContain CounterTopType ToiletPaperType)
    (canContain GarbageCanType ClothType) (canContain GarbageCanType HandTowelType) (canContain GarbageCanType SoapBarType) (canContain GarbageCanType ToiletPaperType)
    (canContain SinkBasinType ClothType) (canContain SinkBasinType HandTowelType) (canContain SinkBasinType SoapBarType) (canContain SinkBasinType ToiletPaperType)
  )
  (:goal (exists (?o - object ?r - receptacle)
    (and (objectType ?o ClothType) (receptacleType ?r CabinetType) (inReceptacle ?o ?r) (cleanable ?o) (isClean ?o))))
  (:metric minimize (total-cost))
)
